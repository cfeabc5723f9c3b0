-- Fires a schedule's ticks; answers the ids of the jobs, none if somebody else was there before.
-- moves: nothing -> available
-- index: see functions/720_cron.sql
-- bound: the ticks
-- params: name, seen, ticks, next
SELECT awa.fire_cron(%(name)s, %(seen)s, %(ticks)s::timestamptz[], %(next)s) AS ids
