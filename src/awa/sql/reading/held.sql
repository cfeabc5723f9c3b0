-- What is claimed and has not ended, by runtime and queue.
-- moves: nothing
-- index: as awa.open_attempts
-- bound: looked_max attempts
-- params: runtimes (null: all), looked_max
SELECT k.runtime_id, l.queue, count(*) AS jobs, sum(count(*)) OVER ()::bigint AS looked
  FROM (SELECT t.id AS runtime_id, o.lane_id
          FROM awa.runtimes t CROSS JOIN LATERAL awa.open_attempts(t.id, t.open_since - interval '1 second') o
         WHERE NOT t.settled AND (%(runtimes)b::uuid[] IS NULL OR t.id = ANY (%(runtimes)b::uuid[]))
         LIMIT %(looked_max)s) k
  JOIN awa.lanes l ON l.lane_id = k.lane_id
 GROUP BY k.runtime_id, l.queue
