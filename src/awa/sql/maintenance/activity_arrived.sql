-- The jobs that came into lanes since a position was handed out, by queue: enqueued, promoted, tried again or moved.
-- moves: nothing
-- index: ready_entries (lane_id, lane_seq)
-- bound: what came since; a probe a lane and partition
-- params: after_position, upto_position
SELECT l.queue, sum(k.jobs)::bigint AS jobs
  FROM awa.lanes l
 CROSS JOIN LATERAL (SELECT count(*) AS jobs
                       FROM (SELECT FROM awa.ready_entries r
                              WHERE r.lane_id = l.lane_id AND r.lane_seq > %(after_position)s AND r.lane_seq <= %(upto_position)s
                             OFFSET 0) r) k
 GROUP BY l.queue
HAVING sum(k.jobs) > 0
