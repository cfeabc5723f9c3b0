-- Where a job has been in lanes, as far as the ring still holds it: each place, who claimed it there, how that ended.
-- moves: nothing
-- index: ready_entries (job_id), lane_claims gist (seqs), attempt_closures (lane_id, claim_no), ready_tombstones (lane_id, first_seq)
-- bound: p_max_rows places, the newest
CREATE OR REPLACE FUNCTION awa.job_stations(p_id bigint, p_max_rows int)
RETURNS TABLE (lane_seq bigint, queue text, priority smallint, ready_at timestamptz, created_at timestamptz, attempt smallint,
               claimed_at timestamptz, runtime_id uuid, host text, pid int, outcome awa.attempt_outcome, closed_at timestamptz,
               dead_reason text, dead_at timestamptz)
LANGUAGE sql VOLATILE AS $$
    SELECT r.lane_seq, l.queue, l.priority, r.ready_at, r.created_at, r.attempt, c.claimed_at, c.runtime_id, t.host, t.pid, x.outcome, x.closed_at,
           d.reason AS dead_reason, d.at AS dead_at
      FROM (SELECT e.* FROM awa.ready_entries e WHERE e.job_id = p_id ORDER BY e.lane_seq DESC LIMIT p_max_rows) r
      JOIN awa.lanes l ON l.lane_id = r.lane_id
      LEFT JOIN LATERAL (
           SELECT k.claim_no, k.claimed_at, k.runtime_id FROM awa.lane_claims k
            WHERE k.slot = r.slot AND k.lane_id = r.lane_id AND k.jobs > 0 AND k.seqs @> r.lane_seq LIMIT 1) c ON true
      LEFT JOIN LATERAL (
           SELECT k.outcome, k.closed_at FROM awa.attempt_closures k
            WHERE k.slot = r.slot AND k.lane_id = r.lane_id AND k.claim_no = c.claim_no AND k.seqs @> r.lane_seq LIMIT 1) x ON true
      LEFT JOIN awa.runtimes t ON t.id = c.runtime_id
      LEFT JOIN LATERAL (
           SELECT k.last_seq, k.reason, k.at FROM awa.ready_tombstones k
            WHERE k.slot = r.slot AND k.lane_id = r.lane_id AND k.first_seq <= r.lane_seq
            ORDER BY k.first_seq DESC LIMIT 1) d ON d.last_seq >= r.lane_seq AND c.claim_no IS NULL
     ORDER BY r.lane_seq;
$$;
