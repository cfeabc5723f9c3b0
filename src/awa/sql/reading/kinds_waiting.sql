-- Available jobs, by kind and queue.
-- moves: nothing
-- index: those of awa.lane_backlog and awa.parked_backlog_of
-- bound: looked_max rows in lanes, and as many that are parked
-- params: looked_max
SELECT k.kind, coalesce(k.queue, l.queue) AS queue, sum(k.jobs)::bigint AS jobs, sum(sum(k.jobs)) OVER ()::bigint AS looked
  FROM (SELECT j.kind, NULL AS queue, j.lane_id, count(*) AS jobs
          FROM (SELECT b.kind, b.lane_id FROM awa.lane_backlog b LIMIT %(looked_max)s) j
         GROUP BY j.kind, j.lane_id
        UNION ALL
        SELECT j.kind, j.queue, NULL, count(*)
          FROM (SELECT p.kind, p.queue FROM awa.parked_backlog_of(NULL, NULL) p LIMIT %(looked_max)s) j
         GROUP BY j.kind, j.queue) k
  LEFT JOIN awa.lanes l ON l.lane_id = k.lane_id
 GROUP BY k.kind, coalesce(k.queue, l.queue)
