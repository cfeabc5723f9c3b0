-- Registers a callback for an attempt that runs; answers nothing if the attempt is not the runtime's any more.
-- moves: nothing
-- index: lane_claims (lane_id, claim_no), attempt_closures (lane_id, claim_no), ready_entries (lane_id, lane_seq)
-- bound: one row
-- params: runtime, the attempt (lane, claim_no, lane_seq), seconds until the time-out
-- No lock: a callback of an attempt that ends in this moment is over from the beginning, and says so to whoever answers it.
CREATE OR REPLACE FUNCTION awa.register_callback(
    p_runtime uuid, p_lane int, p_claim_no bigint, p_seq bigint, p_timeout_s float8)
RETURNS TABLE (callback_id uuid, registered_at timestamptz, expires_at timestamptz)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    now_ constant timestamptz := clock_timestamp();
BEGIN
    PERFORM awa.require_read_committed();
    IF p_timeout_s IS NULL OR NOT p_timeout_s BETWEEN 0.001 AND 315360000 THEN
        RAISE EXCEPTION 'a callback times out after 0.001 to 315360000 seconds, not %', coalesce(p_timeout_s::text, 'null')
            USING ERRCODE = '22023';
    END IF;
    RETURN QUERY
    INSERT INTO awa.callbacks AS c
           (job_id, lane_seq, claim_no, lane_id, attempt, queue, kind, attempted_at, registered_at, timeout_s, expires_at)
    SELECT r.job_id, r.lane_seq, o.claim_no, o.lane_id, r.attempt + 1, l.queue, r.kind, o.claimed_at, now_, p_timeout_s,
           now_ + make_interval(secs => p_timeout_s)
      FROM awa.own_positions(p_runtime, ARRAY[p_lane], ARRAY[p_claim_no], ARRAY[p_seq]) o
      JOIN awa.ready_entries r ON r.slot = o.slot AND r.lane_id = o.lane_id AND r.lane_seq = p_seq
      JOIN awa.lanes l ON l.lane_id = o.lane_id
    RETURNING c.callback_id, c.registered_at, c.expires_at;
END $$;

-- Locks callbacks in key order, as everything does that decides what becomes of one.
-- index: callbacks primary key
-- bound: the set
CREATE OR REPLACE FUNCTION awa.lock_callbacks(p_ids uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM FROM awa.callbacks c WHERE c.callback_id = ANY (p_ids) ORDER BY c.callback_id FOR UPDATE;
END $$;

-- Answers a callback from outside, once; says what came of it.
-- moves: waiting_external -> completed | failed | retryable | available
-- index: callbacks and deferred_jobs primary keys, lane_claims (lane_id, claim_no), attempt_closures (lane_id, claim_no)
-- bound: one job; waits 5 s at most for somebody who has it locked
-- params: callback; complete | fail | retry | resume | heartbeat | time_out (refused as early before its time); the payload (any
--         JSON, or null), the error (a JSON object, or null), who; seconds until the time-out, for a heartbeat (null: as before).
--         outcome: applied (the job has job_state now) | recorded (its attempt still runs, and will find the answer) | extended |
--         resolved (somebody answered before) | over (the job does not wait for it any more) | late (after expires_at, by this
--         server's clock and once the locks are held; the leader ends the wait a moment later) | early | not_found.
-- Whoever locks the callback first decides, be it two answers, a time-out, or the handler that is about to wait. Where the job is
-- is looked up in new statements after the lock.
CREATE OR REPLACE FUNCTION awa.resolve_callback(
    p_id uuid, p_resolution text, p_payload jsonb DEFAULT NULL, p_error jsonb DEFAULT NULL, p_by text DEFAULT NULL,
    p_timeout_s float8 DEFAULT NULL)
RETURNS TABLE (outcome text, job_id bigint, job_state text, resolution text, resolved_at timestamptz, resolved_by text,
               expires_at timestamptz)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '5s' SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    c awa.callbacks;
    waits boolean;
    came text;
    state_ text;
BEGIN
    PERFORM awa.require_read_committed();
    IF p_resolution IS NULL OR p_resolution NOT IN ('complete', 'fail', 'retry', 'resume', 'heartbeat', 'time_out') THEN
        RAISE EXCEPTION 'a callback is answered by complete, fail, retry, resume or heartbeat, not %',
            coalesce(quote_literal(p_resolution), 'null') USING ERRCODE = '22023';
    ELSIF jsonb_path_exists(jsonb_build_array(p_payload, p_error), '$.**{250}') THEN
        -- Goes into the job's metadata, see awa.check_new_job_extras.
        RAISE EXCEPTION 'the answer of a callback is nested more than 250 levels deep' USING ERRCODE = '22023';
    ELSIF p_timeout_s IS NOT NULL AND NOT p_timeout_s BETWEEN 0.001 AND 315360000 THEN
        RAISE EXCEPTION 'a callback times out after 0.001 to 315360000 seconds, not %', p_timeout_s USING ERRCODE = '22023';
    END IF;
    PERFORM awa.lock_callbacks(ARRAY[p_id]);
    PERFORM awa.pause_point('callback.after_lock');
    SELECT k.* INTO c FROM awa.callbacks k WHERE k.callback_id = p_id;
    IF c.callback_id IS NULL THEN
        RETURN QUERY SELECT 'not_found', NULL::bigint, NULL::text, NULL::text, NULL::timestamptz, NULL::text, NULL::timestamptz;
        RETURN;
    END IF;
    IF c.resolution IS NULL THEN
        -- Waits for a cancel that is under way, which then leaves nothing to wait here.
        PERFORM FROM awa.deferred_jobs d WHERE d.job_id = c.job_id AND d.callback_id = p_id FOR UPDATE;
        waits := FOUND;
        PERFORM awa.pause_point('callback.after_job');
        came := CASE WHEN NOT waits AND NOT awa.attempt_is_open(c) THEN 'over'
                     WHEN p_resolution = 'time_out' AND c.expires_at > clock_timestamp() THEN 'early'
                     WHEN p_resolution <> 'time_out' AND c.expires_at <= clock_timestamp() THEN 'late'
                     WHEN p_resolution = 'heartbeat' THEN 'extended'
                     WHEN waits THEN 'applied' ELSE 'recorded' END;
    END IF;
    IF came = 'extended' THEN
        UPDATE awa.callbacks k SET timeout_s = coalesce(p_timeout_s, k.timeout_s),
               expires_at = clock_timestamp() + make_interval(secs => coalesce(p_timeout_s, k.timeout_s))
         WHERE k.callback_id = p_id RETURNING k.* INTO c;
        UPDATE awa.deferred_jobs d SET run_at = c.expires_at WHERE d.job_id = c.job_id AND d.callback_id = p_id;
    ELSIF came IN ('applied', 'recorded') THEN
        UPDATE awa.callbacks k SET resolution = p_resolution, payload = p_payload, error = p_error,
               resolved_at = clock_timestamp(), resolved_by = p_by
         WHERE k.callback_id = p_id RETURNING k.* INTO c;
    END IF;
    IF came = 'applied' THEN
        SELECT a.state INTO state_ FROM awa.apply_callbacks(own_txid, ARRAY[p_id]) a;
    ELSIF came = 'recorded' THEN
        PERFORM pg_notify('awa_control', json_build_object('callbacks', json_build_array(p_id))::text);
    END IF;
    RETURN QUERY SELECT coalesce(came, 'resolved'), c.job_id,
                        coalesce(state_, (SELECT j.state FROM awa.find_job(c.job_id) j)),
                        c.resolution, c.resolved_at, c.resolved_by, c.expires_at;
END $$;

-- Does the attempt that registered a callback still run?
-- index: lane_claims (lane_id, claim_no), attempt_closures (lane_id, claim_no)
-- bound: one claim
-- VOLATILE, so that it sees what is committed now.
CREATE OR REPLACE FUNCTION awa.attempt_is_open(p_callback awa.callbacks) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    SELECT EXISTS (SELECT FROM awa.own_positions(
        NULL, ARRAY[p_callback.lane_id], ARRAY[p_callback.claim_no], ARRAY[p_callback.lane_seq]));
$$;
