-- The first eligible jobs by id.
-- moves: nothing
-- index: that of awa.waiting_jobs
-- bound: the backlog; limit rows come back
-- params: limit, and those of the filter
SELECT j.id, j.kind, j.queue, j.state, j.priority
  FROM awa.waiting_jobs j
 WHERE {filter}
 ORDER BY j.id
 LIMIT %(limit)s
