-- Ends attempts, in sets; answers those that were still the caller's, with the state their job has now.
-- moves: running -> completed | retryable | scheduled | available | failed | cancelled | waiting_external
-- index: lane_claims (lane_id, claim_no), attempt_closures (lane_id, claim_no), ready_entries (lane_id, lane_seq)
-- bound: the set
-- params: runtime (null: on behalf of any, for rescue and cancel), then arrays of equal length: lane, claim_no,
--         lane_seq, outcome (completed, retried, failed, cancelled, snoozed, returned, waiting), delay_s (null: the
--         backoff of awa.backoff_s), error (a JSON object or null), metadata (merged into the job's, or null), callback (that a
--         waiting one waits for; null: none of them waits)
-- An attempt ends at most once: whoever ended it already (rescue, cancel, this very call sent twice) keeps its word.
DROP FUNCTION IF EXISTS awa.finish(uuid, int[], bigint[], bigint[], text[], float8[], jsonb[], jsonb[]);  -- knew no callbacks
CREATE OR REPLACE FUNCTION awa.finish(
    p_runtime uuid, p_lanes int[], p_claim_nos bigint[], p_seqs bigint[], p_outcomes text[],
    p_delays_s float8[] DEFAULT NULL, p_errors jsonb[] DEFAULT NULL, p_metadata jsonb[] DEFAULT NULL,
    p_callbacks uuid[] DEFAULT NULL)
RETURNS TABLE (lane_seq bigint, state text)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    ended record;
BEGIN
    PERFORM awa.require_read_committed();
    PERFORM awa.lock_claims(p_lanes, p_claim_nos);
    -- After the claims, and before a closure says that the attempt waits: an answer from outside comes before or after.
    IF p_callbacks IS NOT NULL THEN PERFORM awa.lock_callbacks(p_callbacks); END IF;
    PERFORM awa.pause_point('finish.after_locks');
    -- A new statement from here on: closures and answers that were committed before the locks were granted.
    IF p_callbacks IS NULL THEN
        RETURN QUERY SELECT * FROM awa.finish_variously(
            own_txid, p_runtime, p_lanes, p_claim_nos, p_seqs, p_outcomes, p_delays_s, p_errors, p_metadata, NULL);
    ELSE
        SELECT array_agg(f.lane_seq) AS seqs, array_agg(f.state) AS states INTO ended
          FROM awa.finish_variously(own_txid, p_runtime, p_lanes, p_claim_nos, p_seqs, p_outcomes, p_delays_s, p_errors, p_metadata,
                                    p_callbacks) f;
        -- What was answered before it waited goes on at once.
        RETURN QUERY SELECT u.lane_seq, coalesce(a.state, u.state)
          FROM unnest(ended.seqs, ended.states) u(lane_seq, state)
          LEFT JOIN awa.apply_callbacks(own_txid, ARRAY(
               SELECT c.callback_id FROM awa.callbacks c
                WHERE c.callback_id = ANY (p_callbacks) AND c.resolution IS NOT NULL AND c.applied_at IS NULL)) a ON a.lane_seq = u.lane_seq;
    END IF;
    PERFORM awa.forget_attempts(p_lanes, p_claim_nos, p_seqs);
END $$;

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
    PERFORM awa.lock_claims(p_lanes, p_claim_nos);
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

-- Ends what awa.complete left because it is keyed, the general way; answers the positions that were still the caller's.
-- index: those of awa.finish_variously
-- bound: the set without what has ended
CREATE OR REPLACE FUNCTION awa.complete_keyed(
    p_runtime uuid, p_lanes int[], p_claim_nos bigint[], p_seqs bigint[], p_ended int8multirange) RETURNS int8multirange
LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(range_agg(int8range(f.lane_seq, f.lane_seq + 1)), '{}')
      FROM (SELECT array_agg(u.lane_id) AS lanes, array_agg(u.claim_no) AS nos, array_agg(u.lane_seq) AS seqs,
                   array_agg('completed'::text) AS outcomes
              FROM unnest(p_lanes, p_claim_nos, p_seqs) u(lane_id, claim_no, lane_seq) WHERE NOT p_ended @> u.lane_seq) k
     CROSS JOIN LATERAL awa.finish_variously(
               pg_current_xact_id(), p_runtime, k.lanes, k.nos, k.seqs, k.outcomes, NULL, NULL, NULL, NULL) f;
$$;

-- Locks the claim rows named, in key order, as everything does that decides whose an attempt is.
-- index: lane_claims (lane_id, claim_no)
-- bound: the claims named
CREATE OR REPLACE FUNCTION awa.lock_claims(p_lanes int[], p_claim_nos bigint[]) RETURNS void
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

-- Seconds until the next attempt after `attempt` of them: 2, 4, 8 … up to 6 h, plus up to a quarter by chance, so that
-- jobs that failed together do not come back together.
CREATE OR REPLACE FUNCTION awa.backoff_s(attempt int) RETURNS float8
LANGUAGE sql VOLATILE AS $$
    SELECT least(21600, power(2, least(attempt, 30))) * (1 + random() * 0.25);
$$;
