-- Retires schedules that no program declares any more, and brings back those that one does again.
-- moves: nothing
-- index: seq scan of cron_jobs and runtimes, small tables
-- bound: one statement; most looks change nothing
-- params: now (null: the clock)
-- While no program of the app is alive its schedules stay, so that an outage or a deployment retires nothing.
WITH declared AS (
    SELECT r.app, array_agg(DISTINCT s.name) FILTER (WHERE s.name IS NOT NULL) AS names
      FROM awa.runtimes r LEFT JOIN LATERAL unnest(r.schedules) s(name) ON true
     WHERE r.state = 'alive' AND r.schedules IS NOT NULL GROUP BY r.app
)
UPDATE awa.cron_jobs c
   SET retired_at = CASE WHEN c.name = ANY (coalesce(d.names, '{}')) THEN NULL ELSE coalesce(%(now)s::timestamptz, clock_timestamp()) END
  FROM declared d
 WHERE d.app = c.app AND (c.retired_at IS NULL) <> (c.name = ANY (coalesce(d.names, '{}')))
RETURNING c.name, c.retired_at
