-- What an attempt is in lanes: positions of a claim row, until a closure names them.

-- Ends attempts as completed with nothing more to say, the fast way; answers those that were not the caller's any more.
-- Job rows are read only where the claim says that their end has more to do (keyed).
-- moves: running -> completed
-- index: lane_claims (lane_id, claim_no), attempt_closures (lane_id, claim_no)
-- bound: the set
-- params: runtime, then arrays of equal length: lane, claim_no, lane_seq
CREATE OR REPLACE FUNCTION awa.complete(p_runtime uuid, p_lanes int[], p_claim_nos bigint[], p_seqs bigint[])
RETURNS TABLE (lane_seq bigint)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    ended int8multirange;
BEGIN
    PERFORM awa.require_read_committed();
    PERFORM awa.lock_claims(p_lanes, p_claim_nos, p_seqs);
    PERFORM awa.pause_point('finish.after_locks');
    -- A new statement from here on: closures that were committed before the locks were granted.
    WITH closed AS (
        INSERT INTO awa.attempt_closures AS x (claim_no, lane_id, jobs, slot, outcome, seqs)
        SELECT o.claim_no, o.lane_id, awa.positions_in(o.plain), o.slot, 'completed', o.plain
          FROM awa.own_positions(p_runtime, p_lanes, p_claim_nos, p_seqs) o WHERE NOT isempty(o.plain)
        RETURNING x.seqs
    )
    SELECT coalesce(range_agg(c.seqs), '{}') INTO ended FROM closed c;
    IF awa.positions_in(ended) < cardinality(p_seqs) THEN
        ended := ended + awa.complete_keyed(p_runtime, p_lanes, p_claim_nos, p_seqs, ended);
    END IF;
    PERFORM awa.forget_attempts(p_lanes, p_claim_nos, p_seqs);
    IF awa.positions_in(ended) < cardinality(p_seqs) THEN
        RETURN QUERY SELECT DISTINCT s FROM unnest(p_seqs) s WHERE NOT ended @> s;
    END IF;
END $$;

-- Closes attempts that the caller has found to be its own.
-- moves: running -> what the outcome says; the caller puts the job where it goes
-- index: appends to attempt_closures
-- bound: the set
-- params: arrays of equal length: slot, lane, claim_no, lane_seq, outcome; when they ended
CREATE OR REPLACE FUNCTION awa.close_attempts(
    p_slots smallint[], p_lanes int[], p_claim_nos bigint[], p_seqs bigint[], p_outcomes awa.attempt_outcome[], p_at timestamptz)
RETURNS void
LANGUAGE sql VOLATILE AS $$
    INSERT INTO awa.attempt_closures (claim_no, closed_at, lane_id, jobs, slot, outcome, seqs)
    SELECT j.claim_no, p_at, j.lane_id, count(*), j.slot, j.outcome, range_agg(int8range(j.lane_seq, j.lane_seq + 1))
      FROM unnest(p_slots, p_lanes, p_claim_nos, p_seqs, p_outcomes) j(slot, lane_id, claim_no, lane_seq, outcome)
     GROUP BY j.lane_id, j.claim_no, j.slot, j.outcome;
$$;

-- Locks the claim rows named, in key order, as everything does that decides whose an attempt is.
-- index: lane_claims (lane_id, claim_no)
-- bound: the claims named; their positions, p_seqs, need no lock of their own here
DROP FUNCTION IF EXISTS awa.lock_claims(int[], bigint[]);  -- it used to be asked without positions
CREATE OR REPLACE FUNCTION awa.lock_claims(p_lanes int[], p_claim_nos bigint[], p_seqs bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM FROM (SELECT DISTINCT u.lane_id, u.claim_no FROM unnest(p_lanes, p_claim_nos) u(lane_id, claim_no)) d
              JOIN awa.lane_claims c ON c.lane_id = d.lane_id AND c.claim_no = d.claim_no
             ORDER BY c.lane_id, c.claim_no, c.slot FOR UPDATE OF c;
END $$;

-- Deletes the rows of awa.attempts that closed attempts had.
-- index: attempts primary key, attempt_closures (lane_id, claim_no)
-- bound: the set; nothing to do where no attempt ever got old
CREATE OR REPLACE FUNCTION awa.forget_attempts(p_lanes int[], p_claim_nos bigint[], p_seqs bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF EXISTS (SELECT FROM awa.attempts) THEN
        DELETE FROM awa.attempts a
         USING unnest(p_lanes, p_claim_nos, p_seqs) u(lane_id, claim_no, lane_seq)
         WHERE a.lane_seq = u.lane_seq
           AND EXISTS (SELECT FROM awa.attempt_closures x
                        WHERE x.lane_id = u.lane_id AND x.claim_no = u.claim_no AND x.seqs @> u.lane_seq);
    END IF;
END $$;

-- Of the given positions those that the runtime claimed and nobody closed, a row a claim row; plain: those of them whose end
-- has nothing more to do than append a closure (see lane_claims.keyed).
-- index: lane_claims (lane_id, claim_no), attempt_closures (lane_id, claim_no)
-- bound: the claims named
DROP FUNCTION IF EXISTS awa.own_positions(uuid, int[], bigint[], bigint[]);  -- it used to answer no plain ones
CREATE FUNCTION awa.own_positions(p_runtime uuid, p_lanes int[], p_claim_nos bigint[], p_seqs bigint[])
RETURNS TABLE (slot smallint, lane_id int, claim_no bigint, claimed_at timestamptz, own int8multirange, plain int8multirange)
LANGUAGE sql VOLATILE AS $$
    SELECT k.slot, k.lane_id, k.claim_no, k.claimed_at, k.own, CASE WHEN k.keyed IS NULL THEN k.own ELSE k.own - k.keyed END FROM (
        SELECT c.slot, c.lane_id, c.claim_no, c.claimed_at, c.keyed,
               c.seqs * d.seqs - coalesce((SELECT range_agg(x.seqs) FROM awa.attempt_closures x
                                            WHERE x.slot = c.slot AND x.lane_id = c.lane_id AND x.claim_no = c.claim_no), '{}') AS own
          FROM (SELECT u.lane_id, u.claim_no, range_agg(int8range(u.lane_seq, u.lane_seq + 1)) AS seqs
                  FROM unnest(p_lanes, p_claim_nos, p_seqs) u(lane_id, claim_no, lane_seq)
                 GROUP BY u.lane_id, u.claim_no) d
          JOIN awa.lane_claims c ON c.lane_id = d.lane_id AND c.claim_no = d.claim_no
         WHERE p_runtime IS NULL OR c.runtime_id = p_runtime
        OFFSET 0) k  -- so that own is worked out once, not wherever it is named
     WHERE NOT isempty(k.own);
$$;
