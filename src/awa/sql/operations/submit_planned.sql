-- Counts the eligible jobs as a preview does, and records the operation if they are still as many as planned: one snapshot for both.
-- moves: nothing -> pending
-- index: that of {waiting}: awa.waiting_jobs to find jobs by their ids, awa.waiting_backlog to walk through all; batch_operations
--        (idempotency_key)
-- bound: the backlog is read; two rows are written
-- params: planned and planned_noop (jobs; of them at the target already), tolerance (jobs more or less), those of submit.sql, of the
--         filter and of the kind
-- One row for each count, all of them with the operation's id: null if the population has drifted, or if the key was used before.
WITH counted AS MATERIALIZED (
    SELECT CASE WHEN grouping(j.queue) = 0 THEN 'queue' WHEN grouping(j.state) = 0 THEN 'state' ELSE 'all' END AS dimension,
           coalesce(j.queue, j.state, '') AS value, count(*) AS jobs, count(*) FILTER (WHERE {unchanged}) AS noop
      FROM {waiting} j
     WHERE {filter}
     GROUP BY GROUPING SETS ((), (j.queue), (j.state))
), submitted AS (
    INSERT INTO awa.batch_operations
           (op_kind, filter, spec, submitted_by, reason, priority, max_rows_per_second, idempotency_key,
            not_before, max_jobs)
    SELECT %(op_kind)s, %(filter)s, %(spec)s, coalesce(%(actor)s::text, session_user), %(reason)s, %(priority)s,
           %(max_rows_per_second)s, %(idempotency_key)s, %(not_before)s, %(max_jobs)s
      FROM counted c
     WHERE c.dimension = 'all'
       AND abs(c.jobs - %(planned)s) <= %(tolerance)s
       AND abs((c.jobs - c.noop) - (%(planned)s - %(planned_noop)s)) <= %(tolerance)s
    ON CONFLICT (idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id, submitted_by, reason
), noted AS (
    INSERT INTO awa.batch_operation_events (operation_id, actor, to_state, reason)
    SELECT id, submitted_by, 'pending', reason FROM submitted
)
SELECT c.dimension, c.value, c.jobs, c.noop, (SELECT s.id FROM submitted s) AS id
  FROM counted c
 ORDER BY c.dimension, c.jobs DESC, c.value
