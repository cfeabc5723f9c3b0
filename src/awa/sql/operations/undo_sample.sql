-- The first jobs by id that are as an operation left them, with what they had before.
-- moves: nothing
-- index: that of {undone}
-- bound: what the operation changed, and the backlog if that is much; limit rows come back
-- params: limit, and those of {undone}
SELECT j.id, j.kind, j.queue, j.state, j.priority, j.before
  FROM ({undone}) j
 WHERE j.why IS NULL
 ORDER BY j.id
 LIMIT %(limit)s
