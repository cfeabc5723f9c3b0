-- Locks one operation for this transaction, so that no two chunks of it are ever under way at once.
-- moves: nothing
-- index: batch_operations primary key
-- bound: one row
-- params: id
-- NO KEY: the foreign keys of items, totals and events may still look at it.
SELECT * FROM awa.batch_operations WHERE id = %(id)s FOR NO KEY UPDATE
