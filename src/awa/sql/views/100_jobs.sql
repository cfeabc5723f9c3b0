-- The places a job can be in beside lanes, each with the columns of awa.jobs (those in lanes: awa.lane_places).

-- Jobs that wait for a time, for a callback until its time-out, or in front of their lane for their concurrency key (available).
-- index: deferred_jobs primary key
-- bound: the table
CREATE OR REPLACE VIEW awa.deferred_places (
    id, kind, queue, state, priority, attempt, max_attempts, args, tags, metadata, errors, run_at, created_at, ready_at,
    attempted_at, finalized_at, deadline_at, runtime_id, enqueue_shard, progress) AS
SELECT d.job_id, d.kind, d.queue, d.state, d.priority, d.attempt, d.max_attempts, d.args, coalesce(d.tags, '{}'),
       coalesce(d.metadata - '_awa_progress', '{}'), coalesce(d.errors, '[]'), d.run_at, d.created_at, d.deferred_at,
       NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::uuid,
       coalesce(d.route_shard, 0)::smallint, d.metadata -> '_awa_progress'
  FROM awa.deferred_jobs d;

-- Jobs that ended otherwise than plainly completed.
-- index: finished_jobs primary key
-- bound: the table
CREATE OR REPLACE VIEW awa.finished_places (
    id, kind, queue, state, priority, attempt, max_attempts, args, tags, metadata, errors, run_at, created_at, ready_at,
    attempted_at, finalized_at, deadline_at, runtime_id, enqueue_shard, progress) AS
SELECT f.job_id, f.kind, f.queue, f.state, f.priority, f.attempt, f.max_attempts, f.args, coalesce(f.tags, '{}'),
       coalesce(f.metadata - '_awa_progress', '{}'), coalesce(f.errors, '[]'), coalesce(f.run_at, f.created_at), f.created_at, f.created_at,
       f.attempted_at, f.finalized_at, NULL::timestamptz, NULL::uuid, coalesce(f.route_shard, 0)::smallint,
       f.metadata -> '_awa_progress'
  FROM awa.finished_jobs f;

-- Every job in the one place where it is, in one snapshot.
-- index: by id, that of each place
-- bound: the whole store without a condition on id
CREATE OR REPLACE VIEW awa.jobs AS
SELECT * FROM awa.lane_places UNION ALL SELECT * FROM awa.deferred_places UNION ALL SELECT * FROM awa.finished_places;
