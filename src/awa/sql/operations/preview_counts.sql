-- Counts the eligible jobs, in all and by queue, kind, state and priority, in one pass; of each also those at the target already.
-- moves: nothing
-- index: that of {waiting}: awa.waiting_jobs to find jobs by their ids, awa.waiting_backlog to walk through all
-- bound: the backlog
-- params: those of the filter and of the kind
SELECT CASE WHEN grouping(j.queue) = 0 THEN 'queue' WHEN grouping(j.kind) = 0 THEN 'kind'
            WHEN grouping(j.state) = 0 THEN 'state' WHEN grouping(j.priority) = 0 THEN 'priority' ELSE 'all' END AS dimension,
       coalesce(j.queue, j.kind, j.state, j.priority::text, '') AS value, count(*) AS jobs,
       count(*) FILTER (WHERE {unchanged}) AS noop
  FROM {waiting} j
 WHERE {filter}
 GROUP BY GROUPING SETS ((), (j.queue), (j.kind), (j.state), (j.priority))
 ORDER BY dimension, jobs DESC, value
