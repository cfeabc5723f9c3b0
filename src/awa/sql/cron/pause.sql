-- Stops a schedule's fires; pausing twice keeps who did it first.
-- moves: nothing
-- index: cron_jobs primary key
-- bound: one row
-- params: name, paused_by
UPDATE awa.cron_jobs c
   SET paused_at = coalesce(c.paused_at, clock_timestamp()),
       paused_by = CASE WHEN c.paused_at IS NULL THEN coalesce(%(paused_by)s, session_user) ELSE c.paused_by END
 WHERE c.name = %(name)s
RETURNING c.name
