-- What the limits of queues count.

-- How many attempts at jobs of these lanes are open.
-- moves: nothing
-- index: lane_claims (runtime_id, claimed_at), attempt_closures (lane_id, claim_no), attempts (runtime_id)
-- bound: the claims since each runtime's open_since, and the rows of awa.attempts
-- As awa.open_attempts finds them, but counted by claims and not listed.
CREATE OR REPLACE FUNCTION awa.count_running(p_lanes int[]) RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(sum(k.jobs), 0)::bigint
      FROM awa.runtimes r
     CROSS JOIN LATERAL (
           SELECT c.jobs - coalesce((SELECT sum(x.jobs) FROM awa.attempt_closures x
                                      WHERE x.slot = c.slot AND x.lane_id = c.lane_id AND x.claim_no = c.claim_no), 0) AS jobs
             FROM awa.lane_claims c
            WHERE c.runtime_id = r.id AND c.claimed_at >= r.open_since - interval '1 second' AND c.jobs > 0
              AND c.lane_id = ANY (p_lanes)
           UNION ALL
           SELECT count(*) FROM awa.attempts a
            WHERE a.runtime_id = r.id AND a.claimed_at < r.open_since - interval '1 second' AND a.lane_id = ANY (p_lanes)) k
     WHERE NOT r.settled;
$$;

-- How many jobs of these lanes were claimed after a time, and when the first of them.
-- moves: nothing
-- index: lane_claims (lane_id, claim_no)
-- bound: some probes a lane, twice the binary logarithm of the claims since then
-- The claims of a queue with a limit follow each other, each with a later time; so the first one after `p_since` is found by
-- halves, and what lies between it and the lane's head is the difference of their totals.
CREATE OR REPLACE FUNCTION awa.started_since(p_lanes int[], p_since timestamptz, OUT jobs bigint, OUT oldest timestamptz)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    lane int;
    newest record;
    first_no bigint;
    first record;
BEGIN
    jobs := 0;
    FOREACH lane IN ARRAY coalesce(p_lanes, '{}') LOOP
        SELECT c.claim_no, c.claimed_at, c.total INTO newest
          FROM awa.lane_claims c WHERE c.lane_id = lane ORDER BY c.claim_no DESC LIMIT 1;
        CONTINUE WHEN newest.claim_no IS NULL OR newest.claimed_at <= p_since;
        -- A statement of its own: in a condition a volatile function is asked for each row, and costs the index.
        first_no := awa.first_claim_since(lane, newest.claim_no, p_since);
        -- A claim that took jobs of two slots, or one that is carried over, has two rows.
        SELECT min(c.claimed_at) AS at, min(c.total) - sum(c.jobs) AS before INTO first
          FROM awa.lane_claims c
         WHERE c.lane_id = lane AND c.claim_no = first_no;
        jobs := jobs + newest.total - first.before;
        oldest := least(oldest, first.at);
    END LOOP;
END $$;

-- The first claim of a lane after a time; `p_newest` is one.
-- index: lane_claims (lane_id, claim_no)
-- bound: twice the binary logarithm of the claims since then
CREATE OR REPLACE FUNCTION awa.first_claim_since(p_lane int, p_newest bigint, p_since timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    inside bigint := p_newest;   -- a claim since then
    outside bigint := NULL;      -- all up to this number are older, or pruned
    step bigint := 1;
    seen record;
    at bigint;
BEGIN
    WHILE outside IS NULL OR inside - outside > 1 LOOP
        at := CASE WHEN outside IS NULL THEN inside - step ELSE (inside + outside) / 2 END;
        SELECT c.claim_no, c.claimed_at INTO seen
          FROM awa.lane_claims c WHERE c.lane_id = p_lane AND c.claim_no <= at ORDER BY c.claim_no DESC LIMIT 1;
        IF seen.claim_no IS NULL OR seen.claimed_at <= p_since THEN
            outside := at;
        ELSE
            inside := seen.claim_no;
            step := step * 2;
        END IF;
    END LOOP;
    RETURN inside;
END $$;
