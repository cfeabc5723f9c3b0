-- Where a job is in a lane; of where it has been nothing is kept but its errors.
-- moves: nothing
-- index: ready_entries (job_id)
-- bound: p_max_rows places, the newest
CREATE OR REPLACE FUNCTION awa.job_stations(p_id bigint, p_max_rows int)
RETURNS TABLE (lane_seq bigint, queue text, priority smallint, ready_at timestamptz, created_at timestamptz, attempt smallint,
               claimed_at timestamptz, runtime_id uuid, host text, pid int, outcome awa.attempt_outcome, closed_at timestamptz,
               dead_reason text, dead_at timestamptz)
LANGUAGE sql VOLATILE AS $$
    SELECT r.lane_seq, l.queue, l.priority, r.ready_at, r.created_at, r.attempt, r.attempted_at, r.runtime_id, t.host, t.pid,
           CASE WHEN r.closed_at IS NOT NULL THEN 'completed'::awa.attempt_outcome END, r.closed_at, NULL::text, NULL::timestamptz
      FROM (SELECT e.* FROM awa.ready_entries e WHERE e.job_id = p_id ORDER BY e.lane_seq DESC LIMIT p_max_rows) r
      JOIN awa.lanes l ON l.lane_id = r.lane_id
      LEFT JOIN awa.runtimes t ON t.id = r.runtime_id
     ORDER BY r.lane_seq;
$$;
