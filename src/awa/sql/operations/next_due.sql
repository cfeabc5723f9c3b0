-- In how many seconds the next waiting operation is due; null when none waits.
-- moves: nothing
-- index: the partial index of active operations
-- bound: the active operations
-- params: now (null: the clock)
SELECT greatest(0, extract(epoch FROM min(wait_until) - coalesce(%(now)s::timestamptz, clock_timestamp())))::float8 AS due_s
  FROM awa.batch_operations
 WHERE state IN ('pending', 'scanning', 'running', 'cancelling')
