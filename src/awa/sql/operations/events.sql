-- What happened to an operation, oldest first.
-- moves: nothing
-- index: batch_operation_events (operation_id, id)
-- bound: a handful of rows, one a transition
-- params: id
SELECT id, operation_id, at, actor, from_state, to_state, reason, changes
  FROM awa.batch_operation_events
 WHERE operation_id = %(id)s
 ORDER BY id
