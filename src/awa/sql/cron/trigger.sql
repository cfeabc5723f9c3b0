-- Enqueues a schedule's job now, beside its ticks; answers its id and what happened, null if there is no such schedule.
-- moves: nothing -> available
-- index: see functions/720_cron.sql
-- bound: one row
-- params: name
SELECT t.job_id, t.outcome FROM awa.trigger_cron(%(name)s) t
