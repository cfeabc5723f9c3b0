-- Gives the chosen jobs back the queue and the priority that they had before an operation, as far as they are as it left them.
-- moves: available | scheduled | retryable -> the same
-- params: undo_of (that operation)
SELECT r.job_id,
       CASE WHEN r.outcome = 'moved' THEN 'processed' WHEN r.outcome = 'unique_conflict' THEN 'errored' ELSE 'skipped' END AS state,
       CASE r.outcome WHEN 'moved' THEN NULL WHEN 'moved_away' THEN 'moved' ELSE r.outcome END AS reason,
       r.detail AS error, r.before, r.lane_id, r.lane_seq, r.slot, r.attempt
  FROM chosen s
 CROSS JOIN LATERAL awa.put_back(%(undo_of)s, s.ids, s.lanes, s.seqs, s.slots) r
 -- Whether a unique key is free may be for an open transaction to decide: such an item stays pending, a later pass tries it.
 WHERE r.outcome <> 'locked'
