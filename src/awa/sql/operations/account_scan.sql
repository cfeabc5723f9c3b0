-- Adds what a scan's transaction listed and keeps its bookmark.
-- moves: nothing
-- index: batch_operations primary key
-- bound: one row
-- Nobody waits for the disk: pages that a crash of the server takes back are walked again.
-- params: id, listed (rows inserted), cursor, runner
UPDATE awa.batch_operations
   SET total_matched = total_matched + %(listed)s,
       cursor = %(cursor)s,
       runner_instance = %(runner)s,
       updated_at = clock_timestamp()
  FROM (SELECT set_config('synchronous_commit', 'off', true) OFFSET 0) unhurried
 WHERE id = %(id)s
RETURNING id
