-- Follow-ups that are owed, by kind, and whether a living runtime's program would settle them.
-- moves: nothing
-- index: owed_follow_ups (kind, id); runtimes is small
-- bound: limit of the oldest are looked at
-- params: stale_s (silence after which a runtime counts as dead), limit
SELECT o.kind, count(*) AS owed, extract(epoch FROM clock_timestamp() - min(o.owed_at))::float8 AS oldest_s,
       EXISTS (SELECT FROM awa.runtimes r
                WHERE r.state = 'alive' AND r.heartbeat_at > clock_timestamp() - make_interval(secs => %(stale_s)s)
                  AND o.kind = ANY (r.on_failed)) AS known
  FROM (SELECT k.kind, k.owed_at FROM awa.owed_follow_ups k ORDER BY k.id LIMIT %(limit)s) o
 GROUP BY o.kind ORDER BY o.kind
