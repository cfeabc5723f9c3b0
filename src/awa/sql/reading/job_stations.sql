-- Where a job has been in lanes, as far as that is kept: each place, who claimed it there, how that ended.
-- moves: nothing
-- index: see functions/*/740_job_stations.sql
-- bound: max_rows places, the newest
-- params: id, max_rows
SELECT * FROM awa.job_stations(%(id)s, %(max_rows)s)
