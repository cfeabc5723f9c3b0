-- The queues that are paused.
-- moves: nothing
-- index: queue_meta, a small table
-- bound: max_rows
-- params: max_rows
SELECT m.queue, m.paused_by, m.paused_at FROM awa.queue_meta m WHERE m.paused ORDER BY m.queue LIMIT %(max_rows)s
