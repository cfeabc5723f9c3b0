-- Lets an operation wait for a moment, so that others are served first.
-- moves: nothing
-- index: batch_operations primary key
-- bound: one row
-- params: id, runner, pause_s
UPDATE awa.batch_operations
   SET wait_until = clock_timestamp() + make_interval(secs => %(pause_s)s::float8),
       runner_instance = %(runner)s,
       updated_at = clock_timestamp()
 WHERE id = %(id)s AND state IN ('pending', 'scanning', 'running', 'cancelling')
RETURNING id
