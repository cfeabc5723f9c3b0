-- Enqueues a schedule's job now, beside its ticks; a paused or retired schedule, too.
-- moves: nothing -> available
-- index: cron_jobs primary key
-- bound: one row
-- params: name
UPDATE awa.cron_jobs c
   SET fired_at = clock_timestamp(), fired_count = c.fired_count + 1, last_job_id = awa.enqueue_scheduled(c, NULL), last_error = NULL
 WHERE c.name = %(name)s
RETURNING c.last_job_id AS job_id
