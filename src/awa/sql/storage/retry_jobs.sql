-- Gives failed and cancelled jobs another attempt, and runs deferred ones now.
-- moves: failed | cancelled | scheduled | retryable -> available
-- index: see functions/440_retry_finished.sql
-- bound: the set
-- params: ids
SELECT job_id, outcome, holder FROM awa.retry_jobs(%(ids)s::bigint[])
