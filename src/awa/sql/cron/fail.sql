-- Notes why a schedule could not be fired, and goes on to its next tick.
-- moves: nothing
-- index: cron_jobs primary key
-- bound: one row
-- params: name, seen, next, error
UPDATE awa.cron_jobs c SET last_error = %(error)s, next_fire_at = %(next)s WHERE c.name = %(name)s AND c.next_fire_at = %(seen)s
