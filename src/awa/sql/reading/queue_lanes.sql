-- The same lane by lane, with a share of the bound each, so that no lane's backlog hides another's: for when all together are too many.
-- moves: nothing
-- index: those of awa.lane_depth and awa.parked_backlog_of
-- bound: looked_max rows, shared out evenly, but least rows a lane; as many a queue that has parked jobs
-- params: queues (null: all), looked_max, least. Answers the share, too
WITH lanes AS MATERIALIZED (
    SELECT l.lane_id, l.queue, l.priority, greatest(%(least)s, %(looked_max)s / count(*) OVER ()) AS share
      FROM awa.lanes l WHERE %(queues)b::text[] IS NULL OR l.queue = ANY (%(queues)b::text[])
)
SELECT l.lane_id, l.queue, l.priority, l.share, k.jobs, k.oldest
  FROM lanes l CROSS JOIN LATERAL awa.lane_depth(l.lane_id, l.share) k
UNION ALL
SELECT NULL, q.queue, k.priority, q.share, k.jobs, k.oldest
  FROM (SELECT DISTINCT l.queue, l.share FROM lanes l) q CROSS JOIN LATERAL (
       SELECT p.priority, count(*) AS jobs, min(p.ready_at) AS oldest
         FROM (SELECT * FROM awa.parked_backlog_of(ARRAY[q.queue], NULL) LIMIT q.share) p
        GROUP BY p.priority) k
