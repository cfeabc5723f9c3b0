-- How many of the jobs named by id match, by state.
-- moves: nothing
-- index: that of awa.jobs by id
-- bound: the ids given
-- params: those of the filter, {predicate} over alias j
SELECT j.state, count(*) AS jobs FROM awa.jobs j WHERE {predicate} GROUP BY j.state
