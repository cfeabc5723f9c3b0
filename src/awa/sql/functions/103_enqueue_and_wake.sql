-- Adds one job in a transaction of its own, and wakes a worker that sleeps on the queue once that is committed.
-- moves: nothing -> available | scheduled
-- index: as awa.enqueue
-- bound: one row, two commits
-- params: as awa.enqueue; answers the job's id, its state and the time of the call. Commits, so it can't be called in a transaction.
-- A transaction that notifies holds a lock of the whole server while its commit waits for the disk. So the job is committed
-- first; the notification has a commit of its own, which waits for nothing, right behind it and not a round trip later.
CREATE OR REPLACE PROCEDURE awa.enqueue_and_wake(
    kind text, args json, queue text, priority int, run_at timestamptz, max_attempts int, tags text[], metadata jsonb,
    ordering_key text, INOUT job_id bigint DEFAULT NULL, INOUT state text DEFAULT NULL, INOUT created_at timestamptz DEFAULT NULL)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
    created_at := clock_timestamp();
    state := CASE WHEN run_at > created_at THEN 'scheduled' ELSE 'available' END;
    PERFORM set_config('awa.wake', 'later', true);
    job_id := awa.enqueue(kind, args, queue, priority, run_at, max_attempts, tags, metadata, ordering_key);
    IF current_setting('awa.wake') = 'wanted' THEN
        COMMIT;
        PERFORM awa.wake_if_idle(queue);
    END IF;
END $$;

-- Wakes a worker for jobs that are committed. Nothing is at stake: it doesn't wait for the disk, and whatever goes wrong must
-- not make the caller believe that his job isn't there. A worker finds it when it next looks.
-- bound: two lock calls
CREATE OR REPLACE FUNCTION awa.wake_if_idle(p_queue text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    -- A full queue of notifications would fail the commit, beyond the reach of the handler below.
    IF pg_notification_queue_usage() < 0.9 THEN PERFORM awa.notify_if_idle(p_queue); END IF;
EXCEPTION WHEN OTHERS THEN
    RAISE LOG 'nobody was woken for queue %: %', p_queue, SQLERRM;
END $$;
