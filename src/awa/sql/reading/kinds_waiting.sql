-- Jobs that wait in lanes, by kind and queue.
-- moves: nothing
-- index: that of awa.lane_backlog
-- bound: looked_max rows
-- params: looked_max
SELECT j.kind, j.queue, count(*) AS jobs, sum(count(*)) OVER ()::bigint AS looked
  FROM (SELECT b.kind, b.queue FROM awa.lane_backlog b LIMIT %(looked_max)s) j
 GROUP BY j.kind, j.queue
