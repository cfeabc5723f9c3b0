-- Jobs that wait in lanes, by kind and queue.
-- moves: nothing
-- index: that of awa.lane_backlog
-- bound: looked_max rows
-- params: looked_max
SELECT k.kind, l.queue, sum(k.jobs)::bigint AS jobs, sum(sum(k.jobs)) OVER ()::bigint AS looked
  FROM (SELECT j.kind, j.lane_id, count(*) AS jobs
          FROM (SELECT b.kind, b.lane_id FROM awa.lane_backlog b LIMIT %(looked_max)s) j
         GROUP BY j.kind, j.lane_id) k
  JOIN awa.lanes l ON l.lane_id = k.lane_id
 GROUP BY k.kind, l.queue
