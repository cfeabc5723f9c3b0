-- The waits and the run times of the last seconds, by name, as histograms.
-- moves: nothing
-- index: activity primary key (scope, at, name)
-- bound: the notes of so many seconds
-- params: scope, names (null: all), since_s
SELECT k.name, array_agg(k.pickup ORDER BY k.bucket) AS pickup, array_agg(k.run ORDER BY k.bucket) AS run
  FROM (SELECT a.name, h.bucket, sum(h.pickup)::bigint AS pickup, sum(h.run)::bigint AS run
          FROM awa.activity a
         CROSS JOIN LATERAL unnest(a.pickup, a.run) WITH ORDINALITY h(pickup, run, bucket)
         WHERE a.scope = %(scope)s AND a.at > clock_timestamp() - make_interval(secs => %(since_s)s)
           AND (%(names)b::text[] IS NULL OR a.name = ANY (%(names)b::text[]))
         GROUP BY a.name, h.bucket) k
 GROUP BY k.name
