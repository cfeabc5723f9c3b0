-- Dead letters grouped by kind and cause, the largest group first.
-- moves: nothing
-- index: dlq_entries whole
-- bound: max_rows groups
-- params: queue (null: all), max_rows
SELECT d.kind, d.fingerprint, count(*) AS depth, min(d.dlq_at) AS oldest_at, max(d.dlq_at) AS newest_at,
       (array_agg(d.error ORDER BY d.dlq_at DESC))[1] AS error, array_agg(DISTINCT d.queue) AS queues, array_agg(DISTINCT d.reason) AS reasons
  FROM awa.dlq_entries d WHERE %(queue)s::text IS NULL OR d.queue = %(queue)s
 GROUP BY d.kind, d.fingerprint ORDER BY count(*) DESC, d.kind, d.fingerprint LIMIT %(max_rows)s
