-- Queues by name, a page at a time: those that somebody configured or paused, and those that jobs were put into.
-- moves: nothing
-- index: primary key of queue_meta, lanes (queue, …), deferred_jobs (queue, job_id): a probe a queue
-- bound: the queues there are; max_rows come back
-- params: after (a name, null: from the first), search (part of the name in lower case, null: any), names (null: any), max_rows
WITH RECURSIVE deferred(queue) AS (
    SELECT min(d.queue) FROM awa.deferred_jobs d
    UNION ALL
    SELECT (SELECT min(d.queue) FROM awa.deferred_jobs d WHERE d.queue > p.queue) FROM deferred p WHERE p.queue IS NOT NULL
), names AS (
    SELECT m.queue FROM awa.queue_meta m UNION SELECT l.queue FROM awa.lanes l
    UNION SELECT d.queue FROM deferred d WHERE d.queue IS NOT NULL
)
SELECT n.queue, coalesce(m.paused, false) AS paused, m.paused_by, m.paused_at, m.description, coalesce(m.enqueue_shards, 1) AS enqueue_shards,
       m.max_running, m.rate_limit, m.rate_period_s
  FROM names n LEFT JOIN awa.queue_meta m ON m.queue = n.queue
 WHERE (%(after)s::text IS NULL OR n.queue > %(after)s) AND (%(names)b::text[] IS NULL OR n.queue = ANY (%(names)b::text[]))
   AND (%(search)s::text IS NULL OR strpos(lower(n.queue), %(search)s) > 0)
 ORDER BY n.queue
 LIMIT %(max_rows)s
