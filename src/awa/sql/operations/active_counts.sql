-- How many operations are in each state that is not final.
-- moves: nothing
-- index: the partial index of active operations
-- bound: the active operations
SELECT state, count(*) AS operations
  FROM awa.batch_operations
 WHERE state IN ('pending', 'scanning', 'running', 'paused', 'cancelling')
 GROUP BY state
