-- What was done in the last seconds, by name, as the maintenance leader has noted it.
-- moves: nothing
-- index: activity primary key (scope, at, name)
-- bound: the notes of so many seconds
-- params: scope, names (null: all), since_s
SELECT a.name, sum(a.arrived)::bigint AS arrived, sum(a.started)::bigint AS started, sum(a.completed)::bigint AS completed,
       sum(a.failed)::bigint AS failed, sum(a.retried)::bigint AS retried, sum(a.cancelled)::bigint AS cancelled
  FROM awa.activity a
 WHERE a.scope = %(scope)s AND a.at > clock_timestamp() - make_interval(secs => %(since_s)s)
   AND (%(names)b::text[] IS NULL OR a.name = ANY (%(names)b::text[]))
 GROUP BY a.name
