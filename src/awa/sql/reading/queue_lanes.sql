-- How many jobs wait in each lane of some queues, and since when the longest.
-- moves: nothing
-- index: those of awa.lane_backlog
-- bound: looked_max rows a lane
-- params: queues (null: all), lanes (null: all of these queues), looked_max
-- The walk of awa.lane_backlog, lane by lane with a limit of its own, so that no lane's backlog hides another's.
WITH heads AS MATERIALIZED (
    SELECT h.*, g.trusted_from,
           CASE WHEN h.last_dead >= h.cursor THEN (
               SELECT range_agg(int8range(t.first_seq, t.last_seq + 1))
                 FROM (SELECT i.first_seq, i.last_seq FROM awa.ready_tombstones i
                        WHERE i.lane_id = h.lane_id AND i.first_seq >= h.cursor
                       UNION ALL
                       (SELECT b.first_seq, b.last_seq FROM awa.ready_tombstones b
                         WHERE b.lane_id = h.lane_id AND b.first_seq < h.cursor ORDER BY b.first_seq DESC LIMIT 1)) t) END AS dead
      FROM awa.lane_heads h CROSS JOIN awa.ring g
     WHERE (%(queues)b::text[] IS NULL OR h.queue = ANY (%(queues)b::text[]))
       AND (%(lanes)b::int[] IS NULL OR h.lane_id = ANY (%(lanes)b::int[]))
)
SELECT h.lane_id, h.queue, h.priority, k.jobs, k.looked, k.oldest
  FROM heads h CROSS JOIN LATERAL (
       SELECT count(*) AS looked, count(*) FILTER (WHERE w.alive) AS jobs, min(w.ready_at) FILTER (WHERE w.alive) AS oldest
         FROM (SELECT e.ready_at, h.dead IS NULL OR NOT e.lane_seq <@ h.dead AS alive
                 FROM (SELECT e.* FROM awa.ready_entries e WHERE e.lane_id = h.lane_id AND e.lane_seq >= h.cursor OFFSET 0) e
               UNION ALL
               SELECT e.ready_at,
                      e.lane_seq > h.last_dead
                      OR coalesce((SELECT t.last_seq FROM awa.ready_tombstones t
                                    WHERE t.slot = e.slot AND t.lane_id = h.lane_id AND t.first_seq <= e.lane_seq
                                    ORDER BY t.first_seq DESC LIMIT 1), -1) < e.lane_seq
                 FROM (SELECT k.* FROM unnest(h.owed) g CROSS JOIN LATERAL (
                              SELECT o.* FROM awa.ready_entries o
                               WHERE o.lane_id = h.lane_id AND o.lane_seq >= lower(g) AND o.lane_seq < upper(g) OFFSET 0) k
                       UNION ALL
                       SELECT k.* FROM pg_snapshot_xip(h.seen) x CROSS JOIN LATERAL (
                              SELECT o.* FROM awa.ready_entries o WHERE o.lane_id = h.lane_id AND o.txid = x OFFSET 0) k
                        WHERE k.lane_seq < h.cursor AND k.lane_seq >= h.trusted_from AND NOT k.lane_seq <@ h.owed
                       UNION ALL
                       SELECT k.* FROM (
                              SELECT o.* FROM awa.ready_entries o
                               WHERE o.lane_id = h.lane_id AND o.txid >= pg_snapshot_xmax(h.seen) OFFSET 0) k
                        WHERE k.lane_seq < h.cursor AND k.lane_seq >= h.trusted_from AND NOT k.lane_seq <@ h.owed) e
                LIMIT %(looked_max)s) w) k
