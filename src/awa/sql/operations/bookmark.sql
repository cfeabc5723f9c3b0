-- Keeps the position of a run, and until when it waits.
-- moves: nothing
-- index: batch_operations primary key
-- bound: one row
-- params: id, cursor, runner, pause_s (null: does not wait)
UPDATE awa.batch_operations
   SET cursor = %(cursor)s,
       runner_instance = %(runner)s,
       wait_until = clock_timestamp() + make_interval(secs => %(pause_s)s::float8),
       updated_at = clock_timestamp()
 WHERE id = %(id)s
RETURNING *
