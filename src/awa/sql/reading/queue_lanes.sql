-- The same lane by lane, with a share of the bound each, so that no lane's backlog hides another's: for when all together are too many.
-- moves: nothing
-- index: those of awa.lane_stretches; ready_entries (lane_id, lane_seq)
-- bound: looked_max rows, shared out evenly, but least rows a lane
-- params: queues (null: all), looked_max, least. Answers the share, too
WITH lanes AS MATERIALIZED (
    SELECT l.lane_id, l.queue, l.priority, greatest(%(least)s, %(looked_max)s / count(*) OVER ()) AS share
      FROM awa.lanes l WHERE %(queues)b::text[] IS NULL OR l.queue = ANY (%(queues)b::text[])
)
SELECT l.lane_id, l.queue, l.priority, l.share, k.jobs, k.oldest
  FROM lanes l CROSS JOIN LATERAL (
       SELECT count(*) AS jobs, min(w.ready_at) AS oldest
         FROM (SELECT e.ready_at
                 FROM awa.lane_stretches(ARRAY[l.lane_id]) s CROSS JOIN LATERAL (
                      SELECT r.ready_at, r.lane_seq FROM awa.ready_entries r
                       WHERE r.lane_id = s.lane_id AND r.lane_seq >= s.first_seq AND r.lane_seq < s.past_seq OFFSET 0) e
                WHERE s.dead IS NULL OR NOT e.lane_seq <@ s.dead
                LIMIT l.share) w) k
