-- Counts what is as an operation left it, in all and by queue, kind, state and priority, and the others by why they aren't.
-- moves: nothing
-- index: that of {undone}
-- bound: what the operation changed, and the backlog if that is much
-- params: those of {undone}
WITH j AS MATERIALIZED ({undone})
SELECT CASE WHEN grouping(j.queue) = 0 THEN 'queue' WHEN grouping(j.kind) = 0 THEN 'kind'
            WHEN grouping(j.state) = 0 THEN 'state' WHEN grouping(j.priority) = 0 THEN 'priority' ELSE 'all' END AS dimension,
       coalesce(j.queue, j.kind, j.state, j.priority::text, '') AS value, count(*) AS jobs
  FROM j
 WHERE j.why IS NULL
 GROUP BY GROUPING SETS ((), (j.queue), (j.kind), (j.state), (j.priority))
UNION ALL
SELECT 'why', j.why, count(*) FROM j WHERE j.why IS NOT NULL GROUP BY j.why
 ORDER BY dimension, jobs DESC, value
