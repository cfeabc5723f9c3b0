-- The greatest id of a job below another, in the places that are looked at. The ids between were never jobs, or are gone.
-- moves: nothing
-- index: ready_entries (job_id) backwards; primary keys of deferred_jobs and finished_jobs
-- bound: a probe a partition and table
-- params: before_id (null: from the newest), lanes, deferred, finished (booleans: which places)
SELECT greatest(
    CASE WHEN %(lanes)s THEN
         (SELECT max(r.job_id) FROM awa.ready_entries r
           WHERE r.job_id < coalesce(%(before_id)s::bigint, 9223372036854775807)) END,
    CASE WHEN %(deferred)s THEN
         (SELECT max(d.job_id) FROM awa.deferred_jobs d
           WHERE d.job_id < coalesce(%(before_id)s::bigint, 9223372036854775807)) END,
    CASE WHEN %(finished)s THEN
         (SELECT max(f.job_id) FROM awa.finished_jobs f
           WHERE f.job_id < coalesce(%(before_id)s::bigint, 9223372036854775807)) END) AS newest
