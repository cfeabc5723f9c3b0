-- Where a job has been in lanes, as far as it is kept: each place, who claimed it there, how that ended.
-- moves: nothing
-- index: ready_entries (job_id), past_places (job_id, lane_seq)
-- bound: p_max_rows places, the newest
CREATE OR REPLACE FUNCTION awa.job_stations(p_id bigint, p_max_rows int)
RETURNS TABLE (lane_seq bigint, queue text, priority smallint, ready_at timestamptz, created_at timestamptz, attempt smallint,
               claimed_at timestamptz, runtime_id uuid, host text, pid int, outcome awa.attempt_outcome, closed_at timestamptz,
               dead_reason text, dead_at timestamptz)
LANGUAGE sql VOLATILE AS $$
    SELECT r.lane_seq, l.queue, l.priority, r.ready_at, r.created_at, r.attempt, r.claimed_at, r.runtime_id, t.host, t.pid,
           r.outcome, r.closed_at, r.dead_reason, r.dead_at
      FROM (SELECT e.lane_seq, e.lane_id, e.ready_at, e.created_at, e.attempt, e.attempted_at AS claimed_at, e.runtime_id,
                   CASE WHEN e.closed_at IS NOT NULL THEN 'completed'::awa.attempt_outcome END AS outcome, e.closed_at,
                   NULL::text AS dead_reason, NULL::timestamptz AS dead_at
              FROM awa.ready_entries e WHERE e.job_id = p_id
            UNION ALL
            SELECT p.lane_seq, p.lane_id, p.ready_at, p.created_at, p.attempt, p.claimed_at, p.runtime_id, p.outcome,
                   CASE WHEN p.outcome IS NOT NULL THEN p.left_at END, p.reason, CASE WHEN p.reason IS NOT NULL THEN p.left_at END
              FROM awa.past_places p WHERE p.job_id = p_id
             ORDER BY 1 DESC LIMIT p_max_rows) r
      JOIN awa.lanes l ON l.lane_id = r.lane_id
      LEFT JOIN awa.runtimes t ON t.id = r.runtime_id
     ORDER BY r.lane_seq;
$$;
