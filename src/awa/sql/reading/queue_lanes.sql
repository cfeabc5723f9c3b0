-- The same lane by lane, with a share of the bound each, so that no lane's backlog hides another's: for when all together are too many.
-- moves: nothing
-- index: that of awa.lane_depth
-- bound: looked_max rows, shared out evenly, but least rows a lane
-- params: queues (null: all), looked_max, least. Answers the share, too
WITH lanes AS MATERIALIZED (
    SELECT l.lane_id, l.queue, l.priority, greatest(%(least)s, %(looked_max)s / count(*) OVER ()) AS share
      FROM awa.lanes l WHERE %(queues)b::text[] IS NULL OR l.queue = ANY (%(queues)b::text[])
)
SELECT l.lane_id, l.queue, l.priority, l.share, k.jobs, k.oldest
  FROM lanes l CROSS JOIN LATERAL awa.lane_depth(l.lane_id, l.share) k
