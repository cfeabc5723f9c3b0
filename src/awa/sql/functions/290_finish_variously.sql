-- The one statement of awa.finish: closes the attempts that are still owned and puts each job where it goes.
-- moves: running -> completed | retryable | scheduled | available | failed | cancelled
-- index: ready_entries (lane_id, lane_seq)
-- bound: the set
-- params: as awa.finish, and the transaction's id, taken before any position is drawn
CREATE OR REPLACE FUNCTION awa.finish_variously(
    p_txid xid8, p_runtime uuid, p_lanes int[], p_claim_nos bigint[], p_seqs bigint[], p_outcomes text[],
    p_delays_s float8[], p_errors jsonb[], p_metadata jsonb[])
RETURNS TABLE (lane_seq bigint, state text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    now_ constant timestamptz := clock_timestamp();
    keep_errors constant int := 25;
BEGIN
    RETURN QUERY
    WITH given AS MATERIALIZED (
        SELECT DISTINCT ON (u.lane_id, u.claim_no, u.lane_seq) u.*
          FROM unnest(p_lanes, p_claim_nos, p_seqs, p_outcomes, p_delays_s, p_errors, p_metadata)
               u(lane_id, claim_no, lane_seq, outcome, delay_s, error, new_metadata)
         ORDER BY u.lane_id, u.claim_no, u.lane_seq
    ), owned AS MATERIALIZED (
        SELECT o.slot, o.claimed_at, g.*
          FROM awa.own_positions(p_runtime, p_lanes, p_claim_nos, p_seqs) o
          JOIN given g ON g.lane_id = o.lane_id AND g.claim_no = o.claim_no AND o.own @> g.lane_seq
    ), job AS MATERIALIZED (
        SELECT o.claim_no, o.claimed_at, o.delay_s, r.*, l.queue, l.priority, l.enqueue_shard,
               CASE WHEN o.outcome = 'retried' AND r.attempt + 1 >= r.max_attempts THEN 'failed'
                    -- A key that is held beyond completion needs a row for retention to release it with.
                    WHEN o.outcome = 'completed' AND (o.new_metadata IS NOT NULL OR awa.holds_key_in(r.unique_key, 'completed'))
                         THEN 'recorded'
                    ELSE o.outcome END::awa.attempt_outcome AS outcome,
               awa.with_error(r.errors, o.error, r.attempt + 1, now_, keep_errors) AS new_errors,
               CASE WHEN o.new_metadata IS NULL THEN r.metadata
                    ELSE coalesce(r.metadata, '{}') || o.new_metadata END AS merged,
               CASE WHEN o.outcome = 'retried' THEN 'attempts_exhausted' ELSE 'terminal_error' END AS why
          FROM owned o
          JOIN awa.ready_entries r ON r.slot = o.slot AND r.lane_id = o.lane_id AND r.lane_seq = o.lane_seq
          JOIN awa.lanes l ON l.lane_id = o.lane_id
    ), closed AS (
        INSERT INTO awa.attempt_closures (claim_no, closed_at, lane_id, jobs, slot, outcome, seqs)
        SELECT j.claim_no, now_, j.lane_id, count(*), j.slot, j.outcome,
               range_agg(int8range(j.lane_seq, j.lane_seq + 1))
          FROM job j GROUP BY j.lane_id, j.claim_no, j.slot, j.outcome
    ), deferred AS (
        INSERT INTO awa.deferred_jobs
               (job_id, created_at, run_at, deferred_at, priority, attempt, max_attempts, route_shard, state, queue,
                kind, args, tags, metadata, errors, unique_key, route_key)
        SELECT j.job_id, j.created_at,
               now_ + make_interval(secs => coalesce(j.delay_s, awa.backoff_s(j.attempt + 1))), now_, j.priority,
               CASE WHEN j.outcome = 'retried' THEN j.attempt + 1 ELSE j.attempt END, j.max_attempts, j.route_shard,
               CASE WHEN j.outcome = 'retried' THEN 'retryable' ELSE 'scheduled' END, j.queue,
               j.kind, j.args, j.tags, j.merged, j.new_errors, j.unique_key, j.route_key
          FROM job j WHERE j.outcome IN ('retried', 'snoozed')
    ), finished AS (
        INSERT INTO awa.finished_jobs
               (job_id, created_at, run_at, attempted_at, finalized_at, priority, attempt, max_attempts, route_shard,
                state, queue, kind, args, tags, metadata, errors, unique_key, route_key)
        SELECT j.job_id, j.created_at, j.run_at, j.claimed_at, now_, j.priority, j.attempt + 1, j.max_attempts,
               j.route_shard, CASE WHEN j.outcome = 'recorded' THEN 'completed' ELSE j.outcome::text END, j.queue,
               j.kind, j.args, j.tags, j.merged, j.new_errors, j.unique_key, j.route_key
          FROM job j WHERE j.outcome IN ('failed', 'cancelled', 'recorded')
    ), buried AS (
        INSERT INTO awa.dlq_entries (job_id, dlq_at, reason, queue, kind, fingerprint, error)
        SELECT j.job_id, now_, j.why, j.queue, j.kind, awa.error_fingerprint(j.new_errors->-1), left(j.new_errors->-1->>'error', 300)
          FROM job j JOIN awa.queue_meta m ON m.queue = j.queue AND m.dlq_enabled
         WHERE j.outcome = 'failed'
    ), handed_back AS (
        INSERT INTO awa.ready_entries
               (lane_seq, job_id, txid, ready_at, created_at, run_at, lane_id, slot, attempt, max_attempts,
                route_shard, kind, args, tags, metadata, errors, unique_key, route_key)
        SELECT nextval('awa.job_positions'), k.job_id, p_txid, k.ready_at, k.created_at, k.run_at, k.lane_id,
               (SELECT g.current_slot FROM awa.ring g), k.attempt, k.max_attempts, k.route_shard, k.kind, k.args,
               k.tags, k.merged, k.errors, k.unique_key, k.route_key
          FROM (SELECT * FROM job j WHERE j.outcome = 'returned' ORDER BY j.lane_seq OFFSET 0) k
    ), keys AS MATERIALIZED (
        SELECT awa.follow_keys(array_agg(j.job_id), array_agg(j.unique_key), array_agg(j.queue), array_agg('running'::text),
                               array_agg(awa.state_after(j.outcome)))
          FROM job j WHERE j.unique_key IS NOT NULL HAVING count(*) > 0
    )
    -- Joined, because what nobody reads is not run.
    SELECT j.lane_seq, awa.state_after(j.outcome) FROM job j LEFT JOIN keys ON true;
    PERFORM awa.notify_if_idle(l.queue) FROM awa.lanes l
      WHERE 'returned' = ANY (p_outcomes) AND l.lane_id = ANY (p_lanes);
END $$;

-- The state of a job whose attempt ended so.
CREATE OR REPLACE FUNCTION awa.state_after(p_outcome awa.attempt_outcome) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE p_outcome WHEN 'retried' THEN 'retryable' WHEN 'snoozed' THEN 'scheduled' WHEN 'returned' THEN 'available'
                          WHEN 'recorded' THEN 'completed' WHEN 'completed' THEN 'completed' WHEN 'failed' THEN 'failed'
                          WHEN 'cancelled' THEN 'cancelled' END;
$$;

-- A job's errors with one more, the oldest dropped beyond p_keep.
CREATE OR REPLACE FUNCTION awa.with_error(p_errors jsonb, p_error jsonb, p_attempt int, p_at timestamptz, p_keep int) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_error IS NULL THEN p_errors
                ELSE CASE WHEN jsonb_array_length(coalesce(p_errors, '[]')) >= p_keep THEN p_errors - 0 ELSE coalesce(p_errors, '[]') END
                     || jsonb_build_array(jsonb_build_object('attempt', p_attempt, 'at', p_at) || p_error) END;
$$;
