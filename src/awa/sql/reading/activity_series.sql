-- The notes of the last seconds, oldest first.
-- moves: nothing
-- index: activity primary key (scope, at, name)
-- bound: the notes of so many seconds
-- params: scope, name, since_s
SELECT date_trunc('minute', a.at - make_interval(secs => a.seconds / 2)) AS minute, a.seconds, a.arrived, a.started, a.completed, a.failed,
       a.retried, a.cancelled, a.pickup
  FROM awa.activity a
 WHERE a.scope = %(scope)s AND a.name = %(name)s AND a.at > clock_timestamp() - make_interval(secs => %(since_s)s)
 ORDER BY a.at
