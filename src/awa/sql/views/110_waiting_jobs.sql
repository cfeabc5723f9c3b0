-- The backlog: available, scheduled and retryable jobs, with where they wait. The same columns as awa.jobs.
-- index: those of awa.lane_waiting; deferred_jobs primary key
-- bound: the backlog; history is not touched
CREATE OR REPLACE VIEW awa.waiting_jobs AS
SELECT * FROM awa.lane_waiting
UNION ALL
SELECT d.job_id, d.kind, d.queue, d.state, d.priority, d.attempt, d.max_attempts, d.args, coalesce(d.tags, '{}'),
       coalesce(d.metadata - '_awa_progress', '{}'), coalesce(d.errors, '[]'), d.run_at, d.created_at, d.deferred_at, NULL, NULL, NULL, NULL,
       coalesce(d.route_shard, 0)::smallint, d.metadata -> '_awa_progress', NULL, NULL, NULL
  FROM awa.deferred_jobs d
 WHERE d.state <> 'waiting_external';
