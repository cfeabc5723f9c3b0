-- How many runtimes are alive, how many of them have been silent for long, and what they are for.
-- moves: nothing
-- index: none, the table is small
-- bound: the runtimes of the last hours
-- params: stale_s
SELECT count(*) AS alive, count(*) FILTER (WHERE t.heartbeat_at < clock_timestamp() - make_interval(secs => %(stale_s)s)) AS stale,
       count(*) FILTER (WHERE 'worker' = ANY (t.roles)) AS workers, count(*) FILTER (WHERE 'maintenance' = ANY (t.roles)) AS maintenance
  FROM awa.runtimes t WHERE t.state = 'alive'
