-- What an attempt is in the canonical storage: the claim written on the job's row, until the row is closed or leaves.

-- Ends attempts as completed with nothing more to say; answers those that were not the caller's any more.
-- moves: running -> completed
-- index: ready_entries primary key
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
    WITH closed AS (
        UPDATE awa.ready_entries r SET closed_at = clock_timestamp()
          FROM unnest(p_lanes, p_claim_nos, p_seqs) u(lane_id, claim_no, lane_seq)
         WHERE r.lane_id = u.lane_id AND r.lane_seq = u.lane_seq AND r.claim_id = u.claim_no AND r.closed_at IS NULL
           AND (p_runtime IS NULL OR r.runtime_id = p_runtime) AND NOT awa.is_keyed(r)
        RETURNING r.lane_seq
    )
    SELECT coalesce(range_agg(int8range(c.lane_seq, c.lane_seq + 1)), '{}') INTO ended FROM closed c;
    IF awa.positions_in(ended) < cardinality(p_seqs) THEN
        ended := ended + awa.complete_keyed(p_runtime, p_lanes, p_claim_nos, p_seqs, ended);
    END IF;
    PERFORM awa.forget_attempts(p_lanes, p_claim_nos, p_seqs);
    IF awa.positions_in(ended) < cardinality(p_seqs) THEN
        RETURN QUERY SELECT DISTINCT s FROM unnest(p_seqs) s WHERE NOT ended @> s;
    END IF;
END $$;

-- Has the end of this job more to do than mark its row? The canonical twin of lane_claims.keyed.
-- bound: constant
CREATE OR REPLACE FUNCTION awa.is_keyed(p_job awa.ready_entries) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT p_job.unique_key IS NOT NULL OR p_job.concurrency_key IS NOT NULL; $$;

-- Closes attempts that the caller has found to be its own: completed jobs keep their row, others leave with it, and a note remains.
-- moves: running -> what the outcome says; the caller puts the job where it goes
-- index: ready_entries primary key; appends to past_places
-- bound: the set
-- params: arrays of equal length: slot, lane, claim_no, lane_seq, outcome; when they ended
CREATE OR REPLACE FUNCTION awa.close_attempts(
    p_slots smallint[], p_lanes int[], p_claim_nos bigint[], p_seqs bigint[], p_outcomes awa.attempt_outcome[], p_at timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    UPDATE awa.ready_entries r SET closed_at = p_at
      FROM unnest(p_lanes, p_claim_nos, p_seqs, p_outcomes) u(lane_id, claim_no, lane_seq, outcome)
     WHERE u.outcome = 'completed' AND r.lane_id = u.lane_id AND r.lane_seq = u.lane_seq AND r.claim_id = u.claim_no
       AND r.closed_at IS NULL;
    WITH gone AS (
        DELETE FROM awa.ready_entries r
         USING unnest(p_lanes, p_claim_nos, p_seqs, p_outcomes) u(lane_id, claim_no, lane_seq, outcome)
         WHERE u.outcome <> 'completed' AND r.lane_id = u.lane_id AND r.lane_seq = u.lane_seq AND r.claim_id = u.claim_no
           AND r.closed_at IS NULL
        RETURNING r.job_id, r.lane_seq, r.lane_id, r.attempt, r.created_at, r.ready_at, r.attempted_at, r.runtime_id, u.outcome
    )
    INSERT INTO awa.past_places (job_id, lane_seq, lane_id, attempt, created_at, ready_at, claimed_at, runtime_id, outcome, left_at)
    SELECT g.*, p_at FROM gone g;
END $$;

-- Locks the rows of attempts, in key order, as everything does that decides whose an attempt is.
-- index: ready_entries primary key
-- bound: the set
CREATE OR REPLACE FUNCTION awa.lock_claims(p_lanes int[], p_claim_nos bigint[], p_seqs bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM FROM (SELECT DISTINCT u.lane_id, u.lane_seq, u.claim_no
                    FROM unnest(p_lanes, p_claim_nos, p_seqs) u(lane_id, claim_no, lane_seq)) d
              JOIN awa.ready_entries r ON r.lane_id = d.lane_id AND r.lane_seq = d.lane_seq AND r.claim_id = d.claim_no
             ORDER BY r.lane_id, r.lane_seq FOR UPDATE OF r;
END $$;

-- Deletes the rows of awa.attempts that closed attempts had.
-- index: attempts and ready_entries primary keys
-- bound: the set; nothing to do where no attempt ever got old
CREATE OR REPLACE FUNCTION awa.forget_attempts(p_lanes int[], p_claim_nos bigint[], p_seqs bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF EXISTS (SELECT FROM awa.attempts) THEN
        DELETE FROM awa.attempts a
         USING unnest(p_lanes, p_claim_nos, p_seqs) u(lane_id, claim_no, lane_seq)
         WHERE a.lane_seq = u.lane_seq
           AND NOT EXISTS (SELECT FROM awa.ready_entries r
                            WHERE r.lane_id = u.lane_id AND r.lane_seq = u.lane_seq AND r.claim_id = u.claim_no
                              AND r.closed_at IS NULL);
    END IF;
END $$;

-- Of the given positions those that the runtime claimed and nobody closed, a row a claim; plain: those of them whose end has
-- nothing more to do than mark the row.
-- index: ready_entries primary key
-- bound: the set
CREATE OR REPLACE FUNCTION awa.own_positions(p_runtime uuid, p_lanes int[], p_claim_nos bigint[], p_seqs bigint[])
RETURNS TABLE (slot smallint, lane_id int, claim_no bigint, claimed_at timestamptz, own int8multirange, plain int8multirange)
LANGUAGE sql VOLATILE AS $$
    SELECT r.slot, r.lane_id, r.claim_id, r.attempted_at, range_agg(int8range(r.lane_seq, r.lane_seq + 1)),
           coalesce(range_agg(int8range(r.lane_seq, r.lane_seq + 1)) FILTER (WHERE NOT awa.is_keyed(r)), '{}')
      FROM (SELECT DISTINCT u.lane_id, u.claim_no, u.lane_seq
              FROM unnest(p_lanes, p_claim_nos, p_seqs) u(lane_id, claim_no, lane_seq)) u
      JOIN awa.ready_entries r ON r.lane_id = u.lane_id AND r.lane_seq = u.lane_seq AND r.claim_id = u.claim_no
     WHERE r.closed_at IS NULL AND (p_runtime IS NULL OR r.runtime_id = p_runtime)
     GROUP BY r.slot, r.lane_id, r.claim_id, r.attempted_at;
$$;
