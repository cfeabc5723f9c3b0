-- The jobs that wait in lanes, for reading many of them: counts, breakdowns and pages walk this, lane by lane.

-- Those of some queues and one priority (null: of all), in any order.
-- moves: nothing
-- index: ready_entries_waiting
-- bound: the backlog
-- params: queues, priority
CREATE OR REPLACE FUNCTION awa.lane_backlog_of(p_queues text[], p_priority smallint)
RETURNS TABLE (
    id bigint, kind text, queue text, state text, priority smallint, attempt smallint, max_attempts smallint, args json, tags text[],
    metadata jsonb, errors jsonb, run_at timestamptz, created_at timestamptz, ready_at timestamptz, attempted_at timestamptz,
    finalized_at timestamptz, deadline_at timestamptz, runtime_id uuid, enqueue_shard smallint, progress jsonb, lane_id int,
    lane_seq bigint, slot smallint)
LANGUAGE sql STABLE ROWS 100000 AS $$
    SELECT r.job_id, r.kind, s.queue, 'available'::text, s.priority, r.attempt, r.max_attempts, r.args,
           coalesce(r.tags, '{}'), coalesce(r.metadata - '_awa_progress', '{}'), coalesce(r.errors, '[]'),
           coalesce(r.run_at, r.created_at), r.created_at, r.ready_at, NULL::timestamptz,
           NULL::timestamptz, NULL::timestamptz, NULL::uuid, s.enqueue_shard,
           r.metadata -> '_awa_progress', r.lane_id, r.lane_seq, r.slot
      FROM (SELECT l.* FROM awa.lanes l
             WHERE (p_queues IS NULL OR l.queue = ANY (p_queues)) AND (p_priority IS NULL OR l.priority = p_priority) OFFSET 0) s
     CROSS JOIN LATERAL (
           SELECT e.* FROM awa.ready_entries e WHERE e.lane_id = s.lane_id AND e.claim_id IS NULL OFFSET 0) r;
$$;

-- All of them.
CREATE OR REPLACE VIEW awa.lane_backlog AS SELECT * FROM awa.lane_backlog_of(NULL, NULL);

-- How many jobs wait in a lane, and since when the longest.
-- moves: nothing
-- index: ready_entries_waiting
-- bound: p_looked_max rows
CREATE OR REPLACE FUNCTION awa.lane_depth(p_lane int, p_looked_max bigint, OUT jobs bigint, OUT oldest timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT count(*), min(w.ready_at)
      FROM (SELECT e.ready_at FROM awa.ready_entries e WHERE e.lane_id = p_lane AND e.claim_id IS NULL LIMIT p_looked_max) w;
$$;
