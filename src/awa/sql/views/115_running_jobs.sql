-- The jobs that run now, found by who runs them and not by looking through the lanes. The same columns as awa.jobs.
-- index: lane_claims (runtime_id, claimed_at), attempts (runtime_id), attempt_closures (lane_id, claim_no), then
--        ready_entries (lane_id, lane_seq)
-- bound: what the runtimes hold, and the claims since the oldest that they may still hold
CREATE OR REPLACE VIEW awa.running_jobs AS
SELECT r.job_id AS id, r.kind, l.queue, 'running' AS state, l.priority, (r.attempt + 1)::smallint AS attempt, r.max_attempts, r.args,
       coalesce(r.tags, '{}') AS tags,
       coalesce(r.metadata - '_awa_progress', '{}')
           || coalesce((SELECT a.metadata FROM awa.attempts a WHERE a.lane_seq = r.lane_seq), '{}') AS metadata,
       coalesce(r.errors, '[]') AS errors,
       coalesce(r.run_at, r.created_at) AS run_at, r.created_at, r.ready_at, o.claimed_at AS attempted_at,
       NULL::timestamptz AS finalized_at, o.deadline_at, t.id AS runtime_id, l.enqueue_shard,
       coalesce((SELECT a.progress FROM awa.attempts a WHERE a.lane_seq = r.lane_seq), r.metadata -> '_awa_progress') AS progress
  FROM awa.runtimes t
 CROSS JOIN LATERAL awa.open_attempts(t.id, t.open_since - interval '1 second') o
  JOIN awa.lanes l ON l.lane_id = o.lane_id
 CROSS JOIN LATERAL (SELECT e.* FROM awa.ready_entries e
                      WHERE e.lane_id = o.lane_id AND e.lane_seq = o.lane_seq OFFSET 0) r
 WHERE NOT t.settled;
