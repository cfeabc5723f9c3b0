-- Lets a schedule fire again, from its next tick on: what passed during the pause is not made up for.
-- moves: nothing
-- index: cron_jobs primary key
-- bound: one row
-- params: name, next_fire_at: the first tick from now on
UPDATE awa.cron_jobs c
   SET paused_at = NULL, paused_by = NULL,
       next_fire_at = CASE WHEN c.paused_at IS NULL THEN c.next_fire_at ELSE %(next_fire_at)s END
 WHERE c.name = %(name)s
RETURNING c.name
