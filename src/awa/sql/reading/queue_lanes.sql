-- How many jobs wait in each lane of some queues, and since when the longest.
-- moves: nothing
-- index: those of awa.lane_backlog
-- bound: looked_max rows a lane
-- params: queues (null: all), lanes (null: all of these queues), looked_max
-- The walk of awa.lane_backlog, lane by lane with a limit of its own, so that no lane's backlog hides another's.
WITH heads AS MATERIALIZED (
    SELECT h.*, g.trusted_from FROM awa.lane_heads h CROSS JOIN awa.ring g
     WHERE (%(queues)b::text[] IS NULL OR h.queue = ANY (%(queues)b::text[]))
       AND (%(lanes)b::int[] IS NULL OR h.lane_id = ANY (%(lanes)b::int[]))
)
SELECT h.lane_id, h.queue, h.priority, k.jobs, k.looked, k.oldest
  FROM heads h CROSS JOIN LATERAL (
       SELECT count(*) AS looked, count(*) FILTER (WHERE w.alive) AS jobs, min(w.ready_at) FILTER (WHERE w.alive) AS oldest
         FROM (SELECT r.ready_at,
                      r.lane_seq > h.last_dead
                      OR coalesce((SELECT t.last_seq FROM awa.ready_tombstones t
                                    WHERE t.slot = r.slot AND t.lane_id = h.lane_id AND t.first_seq <= r.lane_seq
                                    ORDER BY t.first_seq DESC LIMIT 1), -1) < r.lane_seq AS alive
                 FROM (SELECT e.ready_at, e.lane_seq, e.slot
                         FROM (SELECT e.* FROM awa.ready_entries e WHERE e.lane_id = h.lane_id AND e.lane_seq >= h.cursor OFFSET 0) e
                       UNION ALL
                       SELECT e.ready_at, e.lane_seq, e.slot FROM unnest(h.owed) g CROSS JOIN LATERAL (
                              SELECT e.* FROM awa.ready_entries e
                               WHERE e.lane_id = h.lane_id AND e.lane_seq >= lower(g) AND e.lane_seq < upper(g) OFFSET 0) e
                       UNION ALL
                       SELECT e.ready_at, e.lane_seq, e.slot FROM pg_snapshot_xip(h.seen) x CROSS JOIN LATERAL (
                              SELECT e.* FROM awa.ready_entries e WHERE e.lane_id = h.lane_id AND e.txid = x OFFSET 0) e
                        WHERE e.lane_seq < h.cursor AND e.lane_seq >= h.trusted_from AND NOT e.lane_seq <@ h.owed
                       UNION ALL
                       SELECT e.ready_at, e.lane_seq, e.slot
                         FROM (SELECT e.* FROM awa.ready_entries e
                                WHERE e.lane_id = h.lane_id AND e.txid >= pg_snapshot_xmax(h.seen) OFFSET 0) e
                        WHERE e.lane_seq < h.cursor AND e.lane_seq >= h.trusted_from AND NOT e.lane_seq <@ h.owed) r
                LIMIT %(looked_max)s) w) k
