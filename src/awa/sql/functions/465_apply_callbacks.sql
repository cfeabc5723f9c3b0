-- Lets the answers of callbacks have their effect on the jobs that wait for them; answers the state that each job has now.
-- moves: waiting_external -> completed | failed | retryable | available; nothing -> available | scheduled
-- index: callbacks and deferred_jobs primary keys; those of awa.insert_kept_follow_ups
-- bound: the set
-- params: the transaction's id, taken before any position is drawn; callbacks that are locked and resolved, their jobs locked
--         by the caller or out of anybody else's sight
-- The one place where an answer meets its job, for whoever brings them together: an answer from outside, a time-out, or the end
-- of an attempt whose answer was there before it began to wait. What is to follow a job that ends so is inserted here, too.
CREATE OR REPLACE FUNCTION awa.apply_callbacks(p_txid xid8, p_ids uuid[])
RETURNS TABLE (callback_id uuid, lane_seq bigint, state text)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    now_ constant timestamptz := clock_timestamp();
    moved record;
BEGIN
    IF coalesce(cardinality(p_ids), 0) = 0 THEN RETURN; END IF;
    WITH due AS MATERIALIZED (
        SELECT c.lane_seq, c.attempted_at, c.resolution, d.*,
               CASE WHEN c.resolution = 'complete' THEN 'completed' WHEN c.resolution = 'resume' THEN 'available'
                    WHEN c.resolution = 'fail' OR d.attempt >= d.max_attempts THEN 'failed' ELSE 'retryable' END AS goes,
               awa.with_error(d.errors, awa.callback_error(c), d.attempt, now_, 25) AS new_errors,
               coalesce(d.metadata, '{}') || jsonb_build_object('_awa_callback', jsonb_build_object(
                   'id', c.callback_id, 'resolution', c.resolution, 'payload', c.payload)) AS new_metadata
          FROM awa.callbacks c
          JOIN awa.deferred_jobs d ON d.job_id = c.job_id AND d.callback_id = c.callback_id
         WHERE c.callback_id = ANY (p_ids) AND c.resolution IS NOT NULL
    ), gone AS (
        DELETE FROM awa.deferred_jobs d USING due u WHERE d.job_id = u.job_id AND u.goes IN ('completed', 'failed')
    ), kept AS (
        UPDATE awa.deferred_jobs d
           SET state = CASE u.goes WHEN 'available' THEN 'scheduled' ELSE 'retryable' END, callback_id = NULL, deferred_at = now_,
               run_at = now_ + make_interval(secs => CASE u.goes WHEN 'available' THEN 0 ELSE awa.backoff_s(u.attempt) END),
               attempt = CASE u.goes WHEN 'available' THEN u.attempt - 1 ELSE u.attempt END,
               metadata = u.new_metadata, errors = u.new_errors
          FROM due u WHERE d.job_id = u.job_id AND u.goes IN ('available', 'retryable')
    ), finished AS (
        INSERT INTO awa.finished_jobs
               (job_id, created_at, run_at, attempted_at, finalized_at, priority, attempt, max_attempts, route_shard,
                state, queue, kind, args, tags, metadata, errors, unique_key, route_key, concurrency_key, concurrency_limit)
        SELECT u.job_id, u.created_at, u.run_at, u.attempted_at, now_, u.priority, u.attempt, u.max_attempts, u.route_shard,
               u.goes, u.queue, u.kind, u.args, u.tags,
               CASE u.goes WHEN 'completed' THEN u.new_metadata - '_awa_progress' ELSE u.new_metadata END,
               u.new_errors, u.unique_key, u.route_key, u.concurrency_key, u.concurrency_limit
          FROM due u WHERE u.goes IN ('completed', 'failed')
    ), buried AS (
        INSERT INTO awa.dlq_entries (job_id, dlq_at, reason, queue, kind, fingerprint, error)
        SELECT u.job_id, now_, CASE u.resolution WHEN 'fail' THEN 'callback_failed' ELSE 'attempts_exhausted' END, u.queue, u.kind,
               awa.error_fingerprint(u.new_errors->-1), left(u.new_errors->-1->>'error', 300)
          FROM due u JOIN awa.queue_meta m ON m.queue = u.queue AND m.dlq_enabled
         WHERE u.goes = 'failed'
    ), keys AS MATERIALIZED (
        SELECT awa.follow_keys(array_agg(u.job_id), array_agg(u.unique_key), array_agg(u.queue), array_agg('waiting_external'::text),
                               array_agg(CASE u.goes WHEN 'available' THEN 'scheduled' ELSE u.goes END))
          FROM due u WHERE u.unique_key IS NOT NULL HAVING count(*) > 0
    ), marked AS (
        UPDATE awa.callbacks c SET applied_at = now_, led_to = u.goes FROM due u WHERE c.callback_id = u.callback_id
    )
    SELECT array_agg(u.callback_id) AS ids, array_agg(u.lane_seq) AS seqs, array_agg(u.goes) AS states,
           array_agg(u.job_id) FILTER (WHERE u.goes = 'available') AS resumed,
           array_agg(DISTINCT u.queue) FILTER (WHERE u.goes = 'available') AS queues INTO moved
      FROM due u LEFT JOIN keys ON true;  -- what nobody reads is not run
    PERFORM awa.insert_kept_follow_ups(moved.ids, moved.states);
    IF moved.resumed IS NOT NULL THEN
        PERFORM awa.make_ready(p_txid, moved.resumed);
        PERFORM awa.notify_if_idle(q) FROM unnest(moved.queues) q;
    END IF;
    RETURN QUERY SELECT * FROM unnest(moved.ids, moved.seqs, moved.states);
END $$;

-- What an answer adds to the errors of its job; null for those that are no error.
CREATE OR REPLACE FUNCTION awa.callback_error(p_callback awa.callbacks) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT CASE p_callback.resolution
           WHEN 'fail' THEN jsonb_build_object('error', 'the callback reported a failure', 'kind', 'CallbackFailed')
           WHEN 'retry' THEN jsonb_build_object('error', 'the callback asked for another attempt', 'kind', 'CallbackRetry')
           WHEN 'time_out' THEN jsonb_build_object('error', format('no callback came by %s', p_callback.expires_at), 'kind', 'CallbackTimeout')
           END || coalesce(p_callback.error, '{}');
$$;
