-- The concurrency key of a job, how many of the key have a place, and whether this job is one of them. No row: it has no key.
-- moves: nothing
-- index: ready_entries (job_id), deferred_jobs and finished_jobs primary keys, concurrency_admissions primary key
-- bound: one job, the places of its key
-- params: id
WITH job AS (
    SELECT d.concurrency_key AS key, d.concurrency_limit AS places FROM awa.deferred_jobs d WHERE d.job_id = %(id)s
    UNION ALL
    SELECT f.concurrency_key, f.concurrency_limit FROM awa.finished_jobs f WHERE f.job_id = %(id)s
    UNION ALL
    (SELECT r.concurrency_key, r.concurrency_limit FROM awa.ready_entries r WHERE r.job_id = %(id)s ORDER BY r.lane_seq DESC LIMIT 1)
)
SELECT j.key, j.places AS limit, count(a.key) AS used, coalesce(bool_or(a.job_id = %(id)s), false) AS admitted
  FROM (SELECT * FROM job WHERE key IS NOT NULL LIMIT 1) j
  LEFT JOIN awa.concurrency_admissions a ON a.key = j.key
 GROUP BY j.key, j.places
