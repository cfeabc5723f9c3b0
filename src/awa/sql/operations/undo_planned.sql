-- Counts what is as an operation left it, as the preview of its undo does, and records the undo if that is as many as planned.
-- moves: nothing -> pending
-- index: that of {undone}; batch_operations (idempotency_key)
-- bound: what the operation changed is read, and the backlog if that is much; two rows are written
-- params: planned (jobs), tolerance (jobs more or less), those of awa:operations/undo and of {undone}
-- As awa:operations/submit_planned: one row for each count, all of them with the undo's id.
WITH counted AS MATERIALIZED (
    SELECT CASE WHEN grouping(j.queue) = 0 THEN 'queue' WHEN grouping(j.state) = 0 THEN 'state' ELSE 'all' END AS dimension,
           coalesce(j.queue, j.state, '') AS value, count(*) AS jobs, 0 AS noop
      FROM ({undone}) j
     WHERE j.why IS NULL
     GROUP BY GROUPING SETS ((), (j.queue), (j.state))
), submitted AS (
    INSERT INTO awa.batch_operations
           (op_kind, filter, spec, submitted_by, reason, priority, max_rows_per_second, idempotency_key,
            not_before, max_jobs, undo_of)
    SELECT %(op_kind)s, %(filter)s, %(spec)s, coalesce(%(actor)s::text, session_user), %(reason)s, %(priority)s,
           %(max_rows_per_second)s, %(idempotency_key)s, %(not_before)s, %(max_jobs)s, %(undo_of)s
      FROM counted c
     WHERE c.dimension = 'all' AND abs(c.jobs - %(planned)s) <= %(tolerance)s
    ON CONFLICT (idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id, submitted_by, reason
), noted AS (
    INSERT INTO awa.batch_operation_events (operation_id, actor, to_state, reason)
    SELECT id, submitted_by, 'pending', reason FROM submitted
)
SELECT c.dimension, c.value, c.jobs, c.noop, (SELECT s.id FROM submitted s) AS id
  FROM counted c
 ORDER BY c.dimension, c.jobs DESC, c.value
