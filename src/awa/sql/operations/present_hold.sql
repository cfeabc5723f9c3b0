-- Who holds all operations, since when and why; no row if nobody does.
-- moves: nothing
-- index: batch_operation_holds (released_at IS NULL)
-- bound: one row
SELECT held_at, held_by, reason FROM awa.batch_operation_holds WHERE released_at IS NULL
