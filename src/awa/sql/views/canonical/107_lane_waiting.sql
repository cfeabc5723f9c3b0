-- The same jobs, for finding some of them by id.
-- index: ready_entries (job_id) or ready_entries_waiting
-- bound: the backlog
CREATE OR REPLACE VIEW awa.lane_waiting AS
SELECT r.job_id AS id, r.kind, l.queue, 'available' AS state, l.priority, r.attempt, r.max_attempts, r.args,
       coalesce(r.tags, '{}') AS tags, coalesce(r.metadata - '_awa_progress', '{}') AS metadata, coalesce(r.errors, '[]') AS errors,
       coalesce(r.run_at, r.created_at) AS run_at, r.created_at, r.ready_at, NULL::timestamptz AS attempted_at,
       NULL::timestamptz AS finalized_at, NULL::timestamptz AS deadline_at, NULL::uuid AS runtime_id, l.enqueue_shard,
       r.metadata -> '_awa_progress' AS progress, r.lane_id, r.lane_seq, r.slot
  FROM awa.ready_entries r
  JOIN awa.lanes l ON l.lane_id = r.lane_id
 WHERE r.claim_id IS NULL;
