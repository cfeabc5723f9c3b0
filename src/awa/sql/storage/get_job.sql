-- One job.
-- moves: nothing
-- index: see views/120_find_job.sql
-- bound: one row
-- params: id
SELECT id, kind, queue, state, priority, attempt, max_attempts, args, tags, metadata, errors, run_at, created_at, ready_at,
       attempted_at, finalized_at, deadline_at, runtime_id, enqueue_shard, progress
  FROM awa.find_job(%(id)s)
