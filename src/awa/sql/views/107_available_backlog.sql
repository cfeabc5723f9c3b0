-- Available jobs, for reading many of them: those in lanes, and those that are parked until their concurrency key has a place.

-- The parked ones of some queues and one priority (null: of all). The columns of awa.lane_backlog_of; they have no place in a lane.
-- moves: nothing
-- index: deferred_jobs (queue, job_id) where they are parked
-- bound: the parked jobs
-- params: queues, priority
CREATE OR REPLACE FUNCTION awa.parked_backlog_of(p_queues text[], p_priority smallint)
RETURNS TABLE (
    id bigint, kind text, queue text, state text, priority smallint, attempt smallint, max_attempts smallint, args json, tags text[],
    metadata jsonb, errors jsonb, run_at timestamptz, created_at timestamptz, ready_at timestamptz, attempted_at timestamptz,
    finalized_at timestamptz, deadline_at timestamptz, runtime_id uuid, enqueue_shard smallint, progress jsonb, lane_id int,
    lane_seq bigint, slot smallint)
LANGUAGE sql STABLE ROWS 100 AS $$
    SELECT d.job_id, d.kind, d.queue, d.state, d.priority, d.attempt, d.max_attempts, d.args, coalesce(d.tags, '{}'),
           coalesce(d.metadata - '_awa_progress', '{}'), coalesce(d.errors, '[]'), d.run_at, d.created_at, d.deferred_at, NULL::timestamptz,
           NULL::timestamptz, NULL::timestamptz, NULL::uuid, coalesce(d.route_shard, 0)::smallint, d.metadata -> '_awa_progress', NULL::int,
           NULL::bigint, NULL::smallint
      FROM awa.deferred_jobs d
     WHERE d.state = 'available' AND (p_queues IS NULL OR d.queue = ANY (p_queues))
       AND (p_priority IS NULL OR d.priority = p_priority);
$$;

-- Both.
-- index: that of awa.lane_backlog_of, and as above
-- bound: the backlog
CREATE OR REPLACE FUNCTION awa.available_backlog_of(p_queues text[], p_priority smallint)
RETURNS TABLE (
    id bigint, kind text, queue text, state text, priority smallint, attempt smallint, max_attempts smallint, args json, tags text[],
    metadata jsonb, errors jsonb, run_at timestamptz, created_at timestamptz, ready_at timestamptz, attempted_at timestamptz,
    finalized_at timestamptz, deadline_at timestamptz, runtime_id uuid, enqueue_shard smallint, progress jsonb, lane_id int,
    lane_seq bigint, slot smallint)
LANGUAGE sql STABLE ROWS 100000 AS $$
    SELECT * FROM awa.lane_backlog_of(p_queues, p_priority) UNION ALL SELECT * FROM awa.parked_backlog_of(p_queues, p_priority);
$$;
