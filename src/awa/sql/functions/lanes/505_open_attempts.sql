-- A runtime's open attempts: those of its claims since `p_since`, and the older ones it wrote down.
-- index: lane_claims (runtime_id, claimed_at), attempts (runtime_id), attempt_closures (lane_id, claim_no)
-- bound: the claims since p_since, and its rows in awa.attempts
CREATE OR REPLACE FUNCTION awa.open_attempts(p_runtime uuid, p_since timestamptz)
RETURNS TABLE (lane_id int, claim_no bigint, lane_seq bigint, claimed_at timestamptz, deadline_at timestamptz)
LANGUAGE sql VOLATILE AS $$
    WITH claims AS (
        SELECT c.slot, c.lane_id, c.claim_no, c.claimed_at, c.deadline_at, c.seqs AS wanted
          FROM awa.lane_claims c WHERE c.runtime_id = p_runtime AND c.claimed_at >= p_since AND c.jobs > 0
        UNION ALL
        SELECT c.slot, c.lane_id, c.claim_no, c.claimed_at, c.deadline_at, int8multirange(int8range(a.lane_seq, a.lane_seq + 1))
          FROM awa.attempts a
          JOIN awa.lane_claims c ON c.lane_id = a.lane_id AND c.claim_no = a.claim_no AND c.seqs @> a.lane_seq
         WHERE a.runtime_id = p_runtime AND c.claimed_at < p_since
    )
    SELECT c.lane_id, c.claim_no, s, c.claimed_at, c.deadline_at
      FROM claims c
     CROSS JOIN LATERAL unnest(c.wanted - coalesce((SELECT range_agg(x.seqs) FROM awa.attempt_closures x
                                                     WHERE x.slot = c.slot AND x.lane_id = c.lane_id
                                                       AND x.claim_no = c.claim_no), '{}')) g
     CROSS JOIN LATERAL generate_series(lower(g), upper(g) - 1) s;
$$;

-- Whether the deadline of any attempt has passed that may still be open; whoever is told so looks closer.
-- index: lane_claims (runtime_id, claimed_at), attempts (runtime_id)
-- bound: the claims since each runtime's open_since, and the rows of awa.attempts
CREATE OR REPLACE FUNCTION awa.deadline_passed(p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM awa.runtimes r CROSS JOIN LATERAL (
                          SELECT FROM awa.lane_claims c
                           WHERE c.runtime_id = r.id AND c.claimed_at >= r.open_since - interval '1 second' AND c.jobs > 0
                             AND c.deadline_at <= p_now) k
                    WHERE NOT r.settled)
        OR EXISTS (SELECT FROM awa.attempts a JOIN awa.lane_claims c ON c.lane_id = a.lane_id AND c.claim_no = a.claim_no
                    WHERE c.deadline_at <= p_now);
END $$;
