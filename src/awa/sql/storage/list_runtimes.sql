-- The runtimes, newest first.
-- moves: nothing
-- index: none, the table is small
-- bound: max_rows
-- params: max_rows
SELECT id, state, host, pid, version, roles, queues, started_at, heartbeat_at, ended_at,
       extract(epoch FROM clock_timestamp() - heartbeat_at)::float8 AS heartbeat_age_s
  FROM awa.runtimes ORDER BY started_at DESC LIMIT %(max_rows)s
