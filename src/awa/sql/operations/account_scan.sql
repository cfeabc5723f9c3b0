-- Adds what a scan's transaction listed and keeps its bookmark.
-- moves: nothing
-- index: batch_operations primary key
-- bound: one row
-- params: id, listed (rows inserted), cursor, runner
UPDATE awa.batch_operations
   SET total_matched = total_matched + %(listed)s,
       cursor = %(cursor)s,
       runner_instance = %(runner)s,
       updated_at = clock_timestamp()
 WHERE id = %(id)s
RETURNING *
