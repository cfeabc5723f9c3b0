-- In how many seconds the next waiting operation is due; null when none waits, or all are held.
-- moves: nothing
-- index: the partial index of active operations, batch_operation_holds (released_at IS NULL)
-- bound: the active operations
-- params: now (null: the clock)
-- GREATEST leaves nulls out, and so would make 0 of nothing: what is to be compared with 0 must not be null.
SELECT extract(epoch FROM min(greatest(w.until, w.now)) - min(w.now))::float8 AS due_s
  FROM (SELECT greatest(o.wait_until, o.paced_until, o.not_before) AS until,
               coalesce(%(now)s::timestamptz, clock_timestamp()) AS now
          FROM awa.batch_operations o
         WHERE o.state IN ('pending', 'scanning', 'running')) w
 WHERE w.until IS NOT NULL
   AND NOT EXISTS (SELECT FROM awa.batch_operation_holds h WHERE h.released_at IS NULL)
