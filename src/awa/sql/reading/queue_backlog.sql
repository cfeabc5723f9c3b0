-- How many jobs wait in each lane of some queues, and since when the longest; nothing of lanes where none does. Parked jobs are a
-- row without a lane for each queue and priority.
-- moves: nothing
-- index: those of awa.lane_backlog_of and awa.parked_backlog_of
-- bound: looked_max rows in lanes, and as many that are parked; where `looked` says that there were as many, not all lanes have been seen
-- params: queues (null: all), looked_max
SELECT k.lane_id, coalesce(k.queue, l.queue) AS queue, coalesce(k.priority, l.priority) AS priority, k.jobs, k.oldest,
       sum(k.jobs) OVER ()::bigint AS looked
  FROM (SELECT j.lane_id, NULL AS queue, NULL::smallint AS priority, count(*) AS jobs, min(j.ready_at) AS oldest
          FROM (SELECT b.lane_id, b.ready_at FROM awa.lane_backlog_of(%(queues)b::text[], NULL) b LIMIT %(looked_max)s) j
         GROUP BY j.lane_id
        UNION ALL
        SELECT NULL, j.queue, j.priority, count(*), min(j.ready_at)
          FROM (SELECT p.queue, p.priority, p.ready_at FROM awa.parked_backlog_of(%(queues)b::text[], NULL) p LIMIT %(looked_max)s) j
         GROUP BY j.queue, j.priority) k
  LEFT JOIN awa.lanes l ON l.lane_id = k.lane_id
