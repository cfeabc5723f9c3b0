-- Fires a schedule: enqueues a job for each of its ticks and moves it on; answers the jobs' ids.
-- moves: nothing -> available
-- index: cron_jobs primary key
-- bound: the ticks given; waits 1 s at most for who has a unique key in hands
-- params: name; the tick that the caller saw as the next; the ticks to fire, oldest first; the tick after them (null: none)
-- Nothing if the schedule was moved on, paused or retired since the caller looked: with any number of leaders a tick is
-- fired once. In the same transaction as the jobs, so a failure leaves both undone. A tick whose unique key another job holds
-- brings no job, or, with on_conflict replace, changes the one that waits.
CREATE OR REPLACE FUNCTION awa.fire_cron(p_name text, p_seen timestamptz, p_ticks timestamptz[], p_next timestamptz) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
    schedule awa.cron_jobs;
    ids bigint[] := '{}';
    tick timestamptz;
    came record;
BEGIN
    PERFORM awa.require_read_committed();
    SELECT * INTO schedule FROM awa.cron_jobs c
     WHERE c.name = p_name AND c.next_fire_at = p_seen AND c.paused_at IS NULL AND c.retired_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN RETURN '{}'; END IF;
    PERFORM awa.pause_point('cron.after_lock');
    FOREACH tick IN ARRAY p_ticks LOOP
        SELECT e.job_id, e.outcome INTO came FROM awa.enqueue_scheduled(schedule, tick) e;
        IF came.outcome IN ('inserted', 'replaced') THEN ids := ids || came.job_id; END IF;
    END LOOP;
    UPDATE awa.cron_jobs c
       SET next_fire_at = p_next, last_tick_at = p_ticks[cardinality(p_ticks)], last_error = NULL,
           fired_at = CASE WHEN ids <> '{}' THEN clock_timestamp() ELSE c.fired_at END,
           last_job_id = CASE WHEN ids <> '{}' THEN ids[cardinality(ids)] ELSE c.last_job_id END,
           fired_count = c.fired_count + cardinality(ids), skipped_count = c.skipped_count + cardinality(p_ticks) - cardinality(ids)
     WHERE c.name = p_name;
    RETURN ids;
END $$;

-- Enqueues a schedule's job, marked with its name and the tick (null: by hand); answers as awa.enqueue_unique does.
-- moves: nothing -> available
-- index: as awa.enqueue or awa.enqueue_unique
-- bound: one row
DROP FUNCTION IF EXISTS awa.enqueue_scheduled(awa.cron_jobs, timestamptz);  -- knew no unique jobs, and answered the id alone
CREATE OR REPLACE FUNCTION awa.enqueue_scheduled(
    p_schedule awa.cron_jobs, p_tick timestamptz, OUT job_id bigint, OUT outcome text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    marked constant jsonb := coalesce(p_schedule.metadata, '{}') || jsonb_build_object('_awa_cron', jsonb_build_object(
        'name', p_schedule.name, 'tick', p_tick));
    places constant int := coalesce(p_schedule.concurrency_limit, 1);
BEGIN
    IF p_schedule.unique_opts IS NULL THEN
        job_id := awa.enqueue(p_schedule.kind, p_schedule.args, p_schedule.queue, p_schedule.priority, NULL, p_schedule.max_attempts,
                              p_schedule.tags, marked, p_schedule.ordering_key, concurrency_key => p_schedule.concurrency_key,
                              concurrency_limit => places);
        outcome := 'inserted';
    ELSE
        SELECT e.job_id, e.outcome INTO job_id, outcome
          FROM awa.enqueue_unique(p_schedule.kind, p_schedule.args, p_schedule.queue, p_schedule.priority, NULL, p_schedule.max_attempts,
                                  p_schedule.tags, marked, p_schedule.ordering_key, p_schedule.unique_opts,
                                  p_schedule.concurrency_key, places) e;
    END IF;
END $$;

-- Enqueues a schedule's job now, beside its ticks; a paused or retired schedule's, too. Answers as awa.enqueue_scheduled; null
-- if there is no such schedule.
-- moves: nothing -> available
-- index: cron_jobs primary key
-- bound: one row; waits 5 s at most for who has its unique key in hands
-- params: name
CREATE OR REPLACE FUNCTION awa.trigger_cron(p_name text, OUT job_id bigint, OUT outcome text)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '5s' AS $$
DECLARE
    schedule awa.cron_jobs;
BEGIN
    PERFORM awa.require_read_committed();
    SELECT * INTO schedule FROM awa.cron_jobs c WHERE c.name = p_name FOR UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT e.job_id, e.outcome INTO job_id, outcome FROM awa.enqueue_scheduled(schedule, NULL) e;
    IF outcome IN ('inserted', 'replaced') THEN
        UPDATE awa.cron_jobs c
           SET fired_at = clock_timestamp(), fired_count = c.fired_count + 1, last_job_id = trigger_cron.job_id, last_error = NULL
         WHERE c.name = p_name;
    END IF;
END $$;
