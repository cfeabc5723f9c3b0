-- Wakes a worker that sleeps on this queue, if there is one.
-- moves: nothing
-- index: none
-- bound: two lock calls
-- NOTIFY in every enqueue would serialise all commits of the server, so it is sent only when someone is idle:
-- an idle worker's listener holds the shared lock, the producer probes it and gives it back at once.
-- Even so a transaction that notifies holds a lock of the whole server while its commit waits for the disk. Whoever sets awa.wake
-- to 'later' for a transaction finds it 'wanted' instead of having notified, and calls this once more after the commit.
CREATE OR REPLACE FUNCTION awa.notify_if_idle(p_queue text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- One expression: a statement that is cancelled between two calls would leave the lock to the session, for good.
    PERFORM CASE WHEN pg_try_advisory_lock(4713, hashtext(p_queue))
                 THEN pg_advisory_unlock(4713, hashtext(p_queue))::text
                 WHEN current_setting('awa.wake', true) = 'later' THEN set_config('awa.wake', 'wanted', true)
                 ELSE pg_notify('awa_ready', p_queue)::text END;
END $$;

-- The listener's side, on its own connection; answers whether it is marked. params: the queue
-- It waits for nobody: while a producer probes, or if a session kept the lock, the worker goes on polling and asks again.
DROP FUNCTION IF EXISTS awa.mark_idle(text);  -- it used to answer nothing, and that can't be replaced
CREATE FUNCTION awa.mark_idle(p_queue text) RETURNS boolean
LANGUAGE sql VOLATILE AS $$ SELECT pg_try_advisory_lock_shared(4713, hashtext(p_queue)); $$;

CREATE OR REPLACE FUNCTION awa.mark_busy(p_queue text) RETURNS boolean
LANGUAGE sql VOLATILE AS $$ SELECT pg_advisory_unlock_shared(4713, hashtext(p_queue)); $$;
