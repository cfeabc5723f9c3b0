-- Locks one operation for this transaction, so that no two chunks of it are ever under way at once.
-- moves: nothing
-- index: batch_operations primary key, batch_operation_holds (released_at IS NULL)
-- bound: one row
-- params: id
-- NO KEY: the foreign keys of items, totals and events may still look at it. `held` (all operations are) is that of the
-- statement's beginning: a step has taken awa:operations/switch_shared before, so nobody turns the switch meanwhile.
SELECT o.*, EXISTS (SELECT FROM awa.batch_operation_holds h WHERE h.released_at IS NULL) AS held
  FROM awa.batch_operations o
 WHERE o.id = %(id)s
   FOR NO KEY UPDATE
