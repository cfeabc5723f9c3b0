-- The undos of an operation, oldest first.
-- moves: nothing
-- index: batch_operations (undo_of)
-- bound: the undos of one operation
-- params: id
SELECT u.id, u.state, u.total_matched, u.processed, u.submitted_by, u.submitted_at, u.finalized_at
  FROM awa.batch_operations u
 WHERE u.undo_of = %(id)s
 ORDER BY u.submitted_at, u.id
