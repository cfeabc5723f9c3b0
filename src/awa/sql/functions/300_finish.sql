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
    PERFORM awa.lock_claims(p_lanes, p_claim_nos, p_seqs);
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

-- Seconds until the next attempt after `attempt` of them: 2, 4, 8 … up to 6 h, plus up to a quarter by chance, so that
-- jobs that failed together do not come back together.
CREATE OR REPLACE FUNCTION awa.backoff_s(attempt int) RETURNS float8
LANGUAGE sql VOLATILE AS $$
    SELECT least(21600, power(2, least(attempt, 30))) * (1 + random() * 0.25);
$$;
