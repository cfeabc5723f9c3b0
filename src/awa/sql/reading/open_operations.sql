-- The batch operations that have not ended, in the order in which they are served.
-- moves: nothing
-- index: batch_operations (priority, submitted_at, id) of those that have not ended
-- bound: max_rows
-- params: max_rows
SELECT o.id, o.op_kind, o.state, o.filter, o.spec, o.total_matched, o.processed, o.skipped, o.errored,
       o.total_matched - o.processed - o.skipped - o.errored AS pending, o.submitted_by, o.submitted_at, o.reason, o.started_at, o.paused_from, o.paused_by
  FROM awa.batch_operations o
 WHERE o.state IN ('pending', 'scanning', 'running', 'paused', 'cancelling')
 ORDER BY o.priority, o.submitted_at, o.id
 LIMIT %(max_rows)s
