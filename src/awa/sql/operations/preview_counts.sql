-- Counts the eligible jobs, in all and by queue, kind, state and priority, in one pass.
-- moves: nothing
-- index: that of awa.waiting_jobs
-- bound: the backlog
-- params: those of the filter
SELECT CASE WHEN grouping(j.queue) = 0 THEN 'queue' WHEN grouping(j.kind) = 0 THEN 'kind'
            WHEN grouping(j.state) = 0 THEN 'state' WHEN grouping(j.priority) = 0 THEN 'priority' ELSE 'all' END AS dimension,
       coalesce(j.queue, j.kind, j.state, j.priority::text, '') AS value, count(*) AS jobs
  FROM awa.waiting_jobs j
 WHERE {filter}
 GROUP BY GROUPING SETS ((), (j.queue), (j.kind), (j.state), (j.priority))
 ORDER BY dimension, jobs DESC, value
