-- Who serves which queue: the runtimes alive, and how many jobs of it they run at a time.
-- moves: nothing
-- index: none, the table is small
-- bound: the runtimes alive, times their queues
SELECT s.queue, count(*) AS workers, coalesce(sum(s.slots), 0)::bigint AS slots
  FROM awa.runtimes t
 CROSS JOIN LATERAL (
       SELECT e.key AS queue, CASE WHEN jsonb_typeof(e.value) = 'number' THEN (e.value #>> '{}')::numeric END AS slots
         FROM jsonb_each(t.queues) e) s
 WHERE t.state = 'alive' AND 'worker' = ANY (t.roles)
 GROUP BY s.queue
