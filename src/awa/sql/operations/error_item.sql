-- Accounts one item whose change failed whenever it was tried.
-- moves: item pending -> errored
-- index: batch_operation_items primary key
-- bound: one item
-- params: id, job_id, reason, error, cursor, runner
WITH noted AS (
    UPDATE awa.batch_operation_items
       SET state = 'errored', reason = %(reason)s, error = %(error)s, processed_at = clock_timestamp()
     WHERE operation_id = %(id)s AND job_id = %(job_id)s AND state = 'pending'
    RETURNING job_id
), totals AS (
    INSERT INTO awa.batch_operation_totals AS t (operation_id, outcome, reason, items)
    SELECT %(id)s, 'errored', %(reason)s, 1 FROM noted
    ON CONFLICT (operation_id, outcome, reason) DO UPDATE SET items = t.items + 1
)
UPDATE awa.batch_operations b
   SET errored = b.errored + 1,
       last_error = format('job %%s: %%s', n.job_id, %(error)s::text),
       cursor = %(cursor)s,
       runner_instance = %(runner)s,
       wait_until = NULL,
       paced_until = transaction_timestamp() + make_interval(secs => 1::float8 / b.max_rows_per_second),
       updated_at = clock_timestamp()
  FROM noted n
 WHERE b.id = %(id)s
RETURNING b.*
