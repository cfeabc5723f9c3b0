-- Schedules whose next tick has come.
-- moves: nothing
-- index: cron_jobs (next_fire_at), partial
-- bound: max_rows
-- params: now (null: the clock), max_rows
SELECT c.name, c.cron_expr, c.timezone, c.missed, c.next_fire_at, coalesce(%(now)s::timestamptz, clock_timestamp()) AS now
  FROM awa.cron_jobs c
 WHERE c.paused_at IS NULL AND c.retired_at IS NULL AND c.next_fire_at <= coalesce(%(now)s::timestamptz, now())
 ORDER BY c.next_fire_at LIMIT %(max_rows)s
