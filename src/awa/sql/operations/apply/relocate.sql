-- Gives the chosen jobs another queue, another priority, or both.
-- moves: available | scheduled | retryable -> the same
-- params: to_queue and to_priority (null: unchanged)
SELECT r.job_id,
       CASE r.outcome WHEN 'moved' THEN 'processed' WHEN 'noop' THEN 'skipped' WHEN 'waiting_external' THEN 'skipped' ELSE 'errored' END AS state,
       nullif(r.outcome, 'moved') AS reason, r.detail AS error, r.before,
       r.lane_id, r.lane_seq, r.slot, r.attempt
  FROM chosen s
 CROSS JOIN LATERAL awa.relocate(s.ids, s.lanes, s.seqs, s.slots, %(to_queue)s::text, %(to_priority)s::int) r
 -- Whether a unique key is free may be for an open transaction to decide: such an item stays pending, a later pass tries it.
 WHERE r.outcome <> 'locked'
