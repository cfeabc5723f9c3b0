-- How many attempts have ended, by how they ended. The closures say it in a few thousand rows, the jobs need not be read.
-- moves: nothing
-- index: none, the closures are read whole
-- bound: a row a batch of completions
-- params: none
SELECT outcome::text AS outcome, sum(jobs)::bigint AS attempts
  FROM awa.attempt_closures
 GROUP BY outcome
