-- Runtimes, newest first, a page at a time, and who of them leads.
-- moves: nothing
-- index: none, the table is small
-- bound: the runtimes of the last hours; max_rows come back
-- params: before_at and before_id (null: from the newest), with_ended, queue (those that serve it, null: any), max_rows
SELECT t.id, t.state, t.host, t.pid, t.version, t.roles, t.queues, t.started_at, t.heartbeat_at, t.ended_at,
       greatest(0, extract(epoch FROM clock_timestamp() - t.heartbeat_at))::float8 AS heartbeat_age_s,
       EXISTS (SELECT FROM awa.leases l WHERE l.name = 'maintenance' AND l.holder = t.id AND l.expires_at > clock_timestamp()) AS is_leader
  FROM awa.runtimes t
 WHERE (%(with_ended)s OR t.state = 'alive') AND (%(queue)s::text IS NULL OR t.queues ? %(queue)s::text)
   AND (%(before_id)s::uuid IS NULL OR (t.started_at, t.id) < (%(before_at)s::timestamptz, %(before_id)s::uuid))
 ORDER BY t.started_at DESC, t.id DESC
 LIMIT %(max_rows)s
