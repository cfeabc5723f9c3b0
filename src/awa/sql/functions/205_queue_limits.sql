-- How much of a queue with a limit may be claimed now. Only claims of such queues come here; nothing is written.
-- moves: nothing
-- index: queue_meta primary key, lanes (queue, …), then those of awa.count_running and awa.started_since
-- bound: what runs, the claims since each runtime's open_since, and a search by halves in each lane
-- params: queue, how many the claimer wants. Answers how many it may have, and if that is fewer, why (busy | max_running |
--         rate) and in how many seconds to ask again (null: when something has ended).
-- Whoever gets an answer holds the queue's lock until its transaction ends: no two claims of the queue count at once. A claim
-- is a short transaction, so nobody waits for the lock, but asks again soon.
CREATE OR REPLACE FUNCTION awa.limit_claim(
    p_queue text, p_limit int, OUT allowed int, OUT held text, OUT again_s float8)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    limits record;
    lanes int[];
    room bigint;
    started record;
BEGIN
    allowed := 0;
    PERFORM awa.pause_point('limit.before_lock');
    IF NOT pg_try_advisory_xact_lock(4717, hashtext(p_queue)) THEN
        held := 'busy'; again_s := 0.005 * (1 + random());
        RETURN;
    END IF;
    PERFORM awa.pause_point('limit.after_lock');
    -- A new statement from here on: what those who had the lock before have claimed is committed.
    SELECT m.max_running, m.rate_limit, m.rate_period_s INTO limits FROM awa.queue_meta m WHERE m.queue = p_queue;
    SELECT array_agg(l.lane_id) INTO lanes FROM awa.lanes l WHERE l.queue = p_queue;
    allowed := p_limit;
    IF limits.max_running IS NOT NULL THEN
        room := limits.max_running - awa.count_running(lanes);
        IF room < allowed THEN
            allowed := greatest(0, room); held := 'max_running';
        END IF;
    END IF;
    IF limits.rate_limit IS NOT NULL THEN
        SELECT * INTO started FROM awa.started_since(lanes, clock_timestamp() - make_interval(secs => limits.rate_period_s));
        room := limits.rate_limit - started.jobs;
        IF room < allowed THEN
            allowed := greatest(0, room); held := 'rate';
            -- Not for each job that may be begun: some are waited for, if that takes no longer than a twentieth of the period.
            again_s := greatest(least(0.05, limits.rate_period_s / 20), limits.rate_period_s
                                - coalesce(extract(epoch FROM clock_timestamp() - started.oldest)::float8, 0));
        END IF;
    END IF;
END $$;
