-- Says whether a job waits for its concurrency key.
-- moves: nothing
-- index: deferred_jobs (queue, job_id) where they are parked
-- bound: one row
SELECT EXISTS (SELECT FROM awa.deferred_jobs WHERE state = 'available') AS parked
