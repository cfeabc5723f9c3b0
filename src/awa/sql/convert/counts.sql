-- How many jobs there are, by state, queue and kind.
-- moves: nothing
-- index: that of awa.jobs
-- bound: all jobs stored
-- params: none
SELECT j.state, j.queue, j.kind, count(*) AS jobs, coalesce(sum(j.attempt), 0)::bigint AS attempts
  FROM awa.jobs j GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
