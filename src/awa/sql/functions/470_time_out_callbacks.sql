-- Ends the wait of callbacks whose time is over; answers how many.
-- moves: waiting_external -> retryable | failed
-- index: callbacks (expires_at), deferred_jobs primary key, lane_claims (lane_id, claim_no), attempt_closures (lane_id, claim_no)
-- bound: p_limit callbacks, the most overdue first; those that somebody else has locked are left for the next round
-- params: limit, the time (null: now)
-- A callback whose attempt still runs is noted as timed out, for the handler to find. One whose attempt ended in another way, or
-- whose job was cancelled, is abandoned: nothing comes of it.
CREATE OR REPLACE FUNCTION awa.time_out_callbacks(p_limit int, p_now timestamptz DEFAULT NULL) RETURNS int
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off AS $$
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    now_ constant timestamptz := coalesce(p_now, clock_timestamp());
    ids uuid[];
    waiting uuid[];
    running uuid[];
BEGIN
    PERFORM awa.require_read_committed();
    SELECT array_agg(k.callback_id) INTO ids
      FROM (SELECT c.callback_id FROM awa.callbacks c WHERE c.resolved_at IS NULL AND c.expires_at <= now_
             ORDER BY c.expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED) k;
    IF ids IS NULL THEN RETURN 0; END IF;
    PERFORM awa.pause_point('callbacks.after_locks');
    -- New statements, after the locks.
    SELECT coalesce(array_agg(k.callback_id), '{}') INTO waiting
      FROM (SELECT d.callback_id FROM awa.callbacks c
              JOIN awa.deferred_jobs d ON d.job_id = c.job_id AND d.callback_id = c.callback_id
             WHERE c.callback_id = ANY (ids) ORDER BY d.job_id FOR UPDATE OF d SKIP LOCKED) k;
    -- In somebody's hands, such as those of a cancel that may yet be given up.
    ids := ARRAY(SELECT c.callback_id FROM awa.callbacks c
                  WHERE c.callback_id = ANY (ids)
                    AND (c.callback_id = ANY (waiting)
                         OR NOT EXISTS (SELECT FROM awa.deferred_jobs d WHERE d.job_id = c.job_id AND d.callback_id = c.callback_id)));
    running := ARRAY(SELECT c.callback_id FROM awa.callbacks c
                      WHERE c.callback_id = ANY (ids) AND c.callback_id <> ALL (waiting) AND awa.attempt_is_open(c));
    UPDATE awa.callbacks c
       SET resolution = CASE WHEN c.callback_id = ANY (waiting) OR c.callback_id = ANY (running) THEN 'time_out' ELSE 'abandoned' END,
           resolved_at = now_, resolved_by = 'awa'
     WHERE c.callback_id = ANY (ids);
    PERFORM awa.apply_callbacks(own_txid, waiting);
    IF cardinality(running) > 0 THEN
        -- A hundred ids a message keep below NOTIFY's limit.
        PERFORM pg_notify('awa_control', json_build_object('callbacks', json_agg(k.id))::text)
           FROM (SELECT id, (row_number() OVER () - 1) / 100 AS part FROM unnest(running) id) k GROUP BY k.part;
    END IF;
    RETURN cardinality(ids);
END $$;
