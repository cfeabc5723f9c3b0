-- How many jobs wait in each lane of some queues, and since when the longest; nothing of lanes where none does.
-- moves: nothing
-- index: that of awa.lane_backlog_of
-- bound: looked_max rows; where `looked` says that there were as many, not all lanes have been seen
-- params: queues (null: all), looked_max
SELECT k.lane_id, l.queue, l.priority, k.jobs, k.oldest, sum(k.jobs) OVER ()::bigint AS looked
  FROM (SELECT j.lane_id, count(*) AS jobs, min(j.ready_at) AS oldest
          FROM (SELECT b.lane_id, b.ready_at FROM awa.lane_backlog_of(%(queues)b::text[], NULL) b LIMIT %(looked_max)s) j
         GROUP BY j.lane_id) k
  JOIN awa.lanes l ON l.lane_id = k.lane_id
