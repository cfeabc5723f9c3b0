-- Fires a schedule: enqueues a job for each of its ticks and moves it on; answers the jobs' ids.
-- moves: nothing -> available
-- index: cron_jobs primary key
-- bound: the ticks given
-- params: name; the tick that the caller saw as the next; the ticks to fire, oldest first; the tick after them (null: none)
-- Nothing if the schedule was moved on, paused or retired since the caller looked: with any number of leaders a tick is
-- fired once. In the same transaction as the jobs, so a failure leaves both undone.
CREATE OR REPLACE FUNCTION awa.fire_cron(p_name text, p_seen timestamptz, p_ticks timestamptz[], p_next timestamptz) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    schedule awa.cron_jobs;
    ids bigint[];
BEGIN
    PERFORM awa.require_read_committed();
    SELECT * INTO schedule FROM awa.cron_jobs c
     WHERE c.name = p_name AND c.next_fire_at = p_seen AND c.paused_at IS NULL AND c.retired_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN RETURN '{}'; END IF;
    PERFORM awa.pause_point('cron.after_lock');
    SELECT coalesce(array_agg(f.id ORDER BY f.tick), '{}') INTO ids
      FROM (SELECT t.tick, awa.enqueue_scheduled(schedule, t.tick) AS id FROM unnest(p_ticks) t(tick) ORDER BY t.tick) f;
    UPDATE awa.cron_jobs c
       SET next_fire_at = p_next, fired_at = clock_timestamp(), last_tick_at = p_ticks[cardinality(p_ticks)],
           fired_count = c.fired_count + cardinality(ids), last_job_id = ids[cardinality(ids)], last_error = NULL
     WHERE c.name = p_name;
    RETURN ids;
END $$;

-- Enqueues a schedule's job, marked with its name and the tick (null: by hand).
-- moves: nothing -> available
-- index: as awa.enqueue
-- bound: one row
CREATE OR REPLACE FUNCTION awa.enqueue_scheduled(p_schedule awa.cron_jobs, p_tick timestamptz) RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT awa.enqueue(p_schedule.kind, p_schedule.args, p_schedule.queue, p_schedule.priority, NULL, p_schedule.max_attempts,
                       p_schedule.tags,
                       coalesce(p_schedule.metadata, '{}') || jsonb_build_object('_awa_cron', jsonb_build_object(
                           'name', p_schedule.name, 'tick', p_tick)),
                       p_schedule.ordering_key, concurrency_key => p_schedule.concurrency_key,
                       concurrency_limit => coalesce(p_schedule.concurrency_limit, 1));
$$;
