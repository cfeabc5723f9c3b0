-- Jobs in a lane: waiting, running or completed, as their row says.
-- index: ready_entries (job_id)
-- bound: the table
CREATE OR REPLACE VIEW awa.lane_places AS
SELECT r.job_id AS id, r.kind, l.queue,
       CASE WHEN r.claim_id IS NULL THEN 'available' WHEN r.closed_at IS NULL THEN 'running' ELSE 'completed' END AS state,
       l.priority, (r.attempt + (r.claim_id IS NOT NULL)::int)::smallint AS attempt, r.max_attempts, r.args,
       coalesce(r.tags, '{}') AS tags,
       coalesce(r.metadata - '_awa_progress', '{}')
           || CASE WHEN r.claim_id IS NOT NULL AND r.closed_at IS NULL
                   THEN coalesce((SELECT a.metadata FROM awa.attempts a WHERE a.lane_seq = r.lane_seq), '{}') ELSE '{}' END AS metadata, coalesce(r.errors, '[]') AS errors,
       coalesce(r.run_at, r.created_at) AS run_at, r.created_at, r.ready_at, r.attempted_at AS attempted_at,
       r.closed_at AS finalized_at, r.deadline_at, r.runtime_id, l.enqueue_shard,
       CASE WHEN r.closed_at IS NULL THEN
           coalesce((SELECT a.progress FROM awa.attempts a WHERE a.lane_seq = r.lane_seq), r.metadata -> '_awa_progress') END AS progress
  FROM awa.ready_entries r
  JOIN awa.lanes l ON l.lane_id = r.lane_id;
