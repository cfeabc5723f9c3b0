-- The first eligible jobs by id.
-- moves: nothing
-- index: that of {waiting}: awa.waiting_jobs to find jobs by their ids, awa.waiting_backlog to walk through all
-- bound: the backlog; limit rows come back
-- params: limit, and those of the filter
SELECT j.id, j.kind, j.queue, j.state, j.priority
  FROM {waiting} j
 WHERE {filter}
 ORDER BY j.id
 LIMIT %(limit)s
