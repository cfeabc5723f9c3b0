-- Counts the jobs that match but may not be changed, by state.
-- moves: nothing
-- index: that of awa.jobs
-- bound: all jobs stored; the caller gives it a short time
-- params: eligible (states), and those of the filter
SELECT j.state, count(*) AS jobs
  FROM awa.jobs j
 WHERE j.state <> ALL (%(eligible)s::text[]) AND {filter}
 GROUP BY j.state
 ORDER BY j.state
