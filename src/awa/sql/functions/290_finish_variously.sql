-- The one statement of awa.finish: closes the attempts that are still owned and puts each job where it goes.
-- moves: running -> completed | retryable | scheduled | available | failed | cancelled | waiting_external
-- index: ready_entries (lane_id, lane_seq); attempts and callbacks primary keys
-- bound: the set
-- params: as awa.finish, and the transaction's id, taken before any position is drawn
-- What an attempt wrote down of its progress and of the job's metadata goes with the job, whoever ends the attempt.
DROP FUNCTION IF EXISTS awa.finish_variously(
    xid8, uuid, int[], bigint[], bigint[], text[], float8[], jsonb[], jsonb[]);  -- knew no callbacks
CREATE OR REPLACE FUNCTION awa.finish_variously(
    p_txid xid8, p_runtime uuid, p_lanes int[], p_claim_nos bigint[], p_seqs bigint[], p_outcomes text[],
    p_delays_s float8[], p_errors jsonb[], p_metadata jsonb[], p_callbacks uuid[])
RETURNS TABLE (lane_seq bigint, state text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    now_ constant timestamptz := clock_timestamp();
    keep_errors constant int := 25;
BEGIN
    RETURN QUERY
    WITH given AS MATERIALIZED (
        SELECT DISTINCT ON (u.lane_id, u.claim_no, u.lane_seq)
               u.lane_id, u.claim_no, u.lane_seq, u.delay_s, u.new_metadata, w.callback_id, w.expires_at,
               -- Nobody can answer a callback that isn't this attempt's, or was used up by a wait inside of the handler.
               CASE WHEN u.outcome = 'waiting' AND w.callback_id IS NULL THEN 'retried' ELSE u.outcome END AS outcome,
               CASE WHEN u.outcome = 'waiting' AND w.callback_id IS NULL
                    THEN jsonb_build_object('error', format('this attempt has no callback %s to wait for', u.callback_id),
                                            'kind', 'UnknownCallback')
                    ELSE u.error END AS error
          FROM unnest(p_lanes, p_claim_nos, p_seqs, p_outcomes, p_delays_s, p_errors, p_metadata, p_callbacks)
               u(lane_id, claim_no, lane_seq, outcome, delay_s, error, new_metadata, callback_id)
          LEFT JOIN awa.callbacks w ON u.outcome = 'waiting' AND w.callback_id = u.callback_id AND w.lane_id = u.lane_id
               AND w.claim_no = u.claim_no AND w.lane_seq = u.lane_seq AND w.applied_at IS NULL
         ORDER BY u.lane_id, u.claim_no, u.lane_seq
    ), owned AS MATERIALIZED (
        SELECT o.slot, o.claimed_at, g.*
          FROM awa.own_positions(p_runtime, p_lanes, p_claim_nos, p_seqs) o
          JOIN given g ON g.lane_id = o.lane_id AND g.claim_no = o.claim_no AND o.own @> g.lane_seq
    ), job AS MATERIALIZED (
        SELECT o.claim_no, o.claimed_at, o.delay_s, o.callback_id, o.expires_at, r.*, l.queue, l.priority, l.enqueue_shard,
               CASE WHEN o.outcome = 'retried' AND r.attempt + 1 >= r.max_attempts THEN 'failed'
                    -- A key that is held beyond completion needs a row for retention to release it with.
                    WHEN o.outcome = 'completed' AND (o.new_metadata IS NOT NULL OR a.metadata IS NOT NULL
                                                      OR awa.holds_key_in(r.unique_key, 'completed'))
                         THEN 'recorded'
                    ELSE o.outcome END::awa.attempt_outcome AS outcome,
               awa.with_error(r.errors, jsonb_strip_nulls(jsonb_build_object(
                   'duration_s', round(extract(epoch FROM now_ - o.claimed_at), 3), 'runtime_id', p_runtime)) || o.error,
                   r.attempt + 1, now_, keep_errors) AS new_errors,
               CASE WHEN o.new_metadata IS NULL AND a.lane_seq IS NULL THEN r.metadata
                    ELSE awa.with_progress(coalesce(r.metadata, '{}') || coalesce(a.metadata, '{}'), a.progress)
                         || coalesce(o.new_metadata, '{}') END AS merged,
               CASE WHEN o.outcome = 'retried' THEN 'attempts_exhausted' ELSE 'terminal_error' END AS why
          FROM owned o
          -- A range, fenced and in order: planned with young statistics anything else walks the lane for each position.
         CROSS JOIN LATERAL (SELECT e.* FROM awa.ready_entries e
                              WHERE e.slot = o.slot AND e.lane_id = o.lane_id AND e.lane_seq >= o.lane_seq AND e.lane_seq < o.lane_seq + 1
                              ORDER BY e.lane_seq OFFSET 0) r
          JOIN awa.lanes l ON l.lane_id = o.lane_id
          LEFT JOIN awa.attempts a ON a.lane_seq = o.lane_seq AND a.claim_no = o.claim_no
    ), closed AS MATERIALIZED (
        SELECT awa.close_attempts(array_agg(j.slot), array_agg(j.lane_id), array_agg(j.claim_no), array_agg(j.lane_seq),
                                  array_agg(j.outcome), now_) AS done
          FROM job j
    ), deferred AS (
        INSERT INTO awa.deferred_jobs
               (job_id, created_at, run_at, deferred_at, priority, attempt, max_attempts, route_shard, state, queue,
                kind, args, tags, metadata, errors, unique_key, route_key, concurrency_key, concurrency_limit, callback_id)
        SELECT j.job_id, j.created_at,
               CASE WHEN j.outcome = 'waiting' THEN j.expires_at
                    ELSE now_ + make_interval(secs => coalesce(j.delay_s, awa.backoff_s(j.attempt + 1))) END, now_, j.priority,
               CASE WHEN j.outcome = 'snoozed' THEN j.attempt ELSE j.attempt + 1 END, j.max_attempts, j.route_shard,
               CASE j.outcome WHEN 'retried' THEN 'retryable' WHEN 'snoozed' THEN 'scheduled' ELSE 'waiting_external' END, j.queue,
               j.kind, j.args, j.tags, j.merged, j.new_errors, j.unique_key, j.route_key, j.concurrency_key,
               j.concurrency_limit, j.callback_id
          FROM job j WHERE j.outcome IN ('retried', 'snoozed', 'waiting')
    ), waits AS (
        UPDATE awa.callbacks c SET waiting_since = now_ FROM job j WHERE j.outcome = 'waiting' AND c.callback_id = j.callback_id
    ), finished AS (
        INSERT INTO awa.finished_jobs
               (job_id, created_at, run_at, attempted_at, finalized_at, priority, attempt, max_attempts, route_shard,
                state, queue, kind, args, tags, metadata, errors, unique_key, route_key, concurrency_key, concurrency_limit)
        SELECT j.job_id, j.created_at, j.run_at, j.claimed_at, now_, j.priority, j.attempt + 1, j.max_attempts,
               j.route_shard, CASE WHEN j.outcome = 'recorded' THEN 'completed' ELSE j.outcome::text END, j.queue,
               j.kind, j.args, j.tags, CASE WHEN j.outcome = 'recorded' THEN j.merged - '_awa_progress' ELSE j.merged END,
               j.new_errors, j.unique_key, j.route_key, j.concurrency_key, j.concurrency_limit
          FROM job j WHERE j.outcome IN ('failed', 'cancelled', 'recorded')
    ), buried AS (
        INSERT INTO awa.dlq_entries (job_id, dlq_at, reason, queue, kind, fingerprint, error)
        SELECT j.job_id, now_, j.why, j.queue, j.kind, awa.error_fingerprint(j.new_errors->-1), left(j.new_errors->-1->>'error', 300)
          FROM job j JOIN awa.queue_meta m ON m.queue = j.queue AND m.dlq_enabled
         WHERE j.outcome = 'failed'
    ), handed_back AS (
        INSERT INTO awa.ready_entries
               (lane_seq, job_id, txid, ready_at, created_at, run_at, lane_id, slot, attempt, max_attempts,
                route_shard, kind, args, tags, metadata, errors, unique_key, route_key, concurrency_key, concurrency_limit)
        SELECT nextval('awa.job_positions'), k.job_id, p_txid, k.ready_at, k.created_at, k.run_at, k.lane_id,
               (SELECT g.current_slot FROM awa.ring g), k.attempt, k.max_attempts, k.route_shard, k.kind, k.args,
               k.tags, k.merged, k.errors, k.unique_key, k.route_key, k.concurrency_key, k.concurrency_limit
          FROM (SELECT * FROM job j WHERE j.outcome = 'returned' ORDER BY j.lane_seq OFFSET 0) k
    ), keys AS MATERIALIZED (
        SELECT awa.follow_keys(array_agg(j.job_id), array_agg(j.unique_key), array_agg(j.queue), array_agg('running'::text),
                               array_agg(awa.state_after(j.outcome)))
          FROM job j WHERE j.unique_key IS NOT NULL HAVING count(*) > 0
    ), places AS MATERIALIZED (
        SELECT awa.release_places(p_txid, array_agg(j.job_id), array_agg(j.concurrency_key))
          FROM job j WHERE j.concurrency_key IS NOT NULL AND j.outcome <> 'returned' HAVING count(*) > 0
    )
    -- Joined, because what nobody reads is not run.
    SELECT j.lane_seq, awa.state_after(j.outcome) FROM job j CROSS JOIN closed LEFT JOIN keys ON true LEFT JOIN places ON true;
    PERFORM awa.notify_if_idle(l.queue) FROM awa.lanes l
      WHERE 'returned' = ANY (p_outcomes) AND l.lane_id = ANY (p_lanes);
END $$;

-- The state of a job whose attempt ended so.
CREATE OR REPLACE FUNCTION awa.state_after(p_outcome awa.attempt_outcome) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    -- As text: a word that a migration has just added may not be named as the type's in the same transaction.
    SELECT CASE p_outcome::text WHEN 'retried' THEN 'retryable' WHEN 'snoozed' THEN 'scheduled' WHEN 'returned' THEN 'available'
                                WHEN 'recorded' THEN 'completed' WHEN 'completed' THEN 'completed' WHEN 'failed' THEN 'failed'
                                WHEN 'waiting' THEN 'waiting_external' WHEN 'cancelled' THEN 'cancelled' END;
$$;

-- A job's errors with one more, the oldest dropped beyond p_keep.
CREATE OR REPLACE FUNCTION awa.with_error(p_errors jsonb, p_error jsonb, p_attempt int, p_at timestamptz, p_keep int) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_error IS NULL THEN p_errors
                ELSE CASE WHEN jsonb_array_length(coalesce(p_errors, '[]')) >= p_keep THEN p_errors - 0 ELSE coalesce(p_errors, '[]') END
                     || jsonb_build_array(jsonb_build_object('attempt', p_attempt, 'at', p_at) || p_error) END;
$$;

-- A job's metadata with how far its attempt had come, so that the next attempt can go on from there.
CREATE OR REPLACE FUNCTION awa.with_progress(p_metadata jsonb, p_progress jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_progress IS NULL THEN p_metadata ELSE p_metadata || jsonb_build_object('_awa_progress', p_progress) END;
$$;
