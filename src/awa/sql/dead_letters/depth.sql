-- How many dead letters each queue has, and since when.
-- moves: nothing
-- index: dlq_entries (queue, dlq_at); queue_meta whole
-- bound: the dead letters
SELECT k.queue, coalesce(d.depth, 0) AS depth, d.oldest_at, d.newest_at, coalesce(m.dlq_enabled, false) AS enabled
  FROM (SELECT queue FROM awa.queue_meta WHERE dlq_enabled UNION SELECT queue FROM awa.dlq_entries) k
  LEFT JOIN (SELECT e.queue, count(*) AS depth, min(e.dlq_at) AS oldest_at, max(e.dlq_at) AS newest_at
               FROM awa.dlq_entries e GROUP BY e.queue) d ON d.queue = k.queue
  LEFT JOIN awa.queue_meta m ON m.queue = k.queue
 ORDER BY k.queue
