-- Says whether a deferred job's time has come.
-- moves: nothing
-- index: deferred_jobs (run_at, job_id)
-- bound: one row
-- params: now (null: the clock)
-- Asked before each promotion, so that the many looks that find nothing cost no transaction id.
SELECT EXISTS (SELECT FROM awa.deferred_jobs WHERE run_at <= coalesce(%(now)s::timestamptz, now())
                 AND state IN ('scheduled', 'retryable')) AS due
