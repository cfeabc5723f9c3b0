-- Puts due jobs into their lanes.
-- moves: scheduled | retryable -> available
-- index: see functions/310_promote.sql
-- bound: max_jobs
-- params: max_jobs, now (null: the database's clock)
SELECT awa.promote(%(max_jobs)s, %(now)s::timestamptz) AS promoted
