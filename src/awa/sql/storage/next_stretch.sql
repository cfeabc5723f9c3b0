-- Where the next stretch of a walk back through ids lies: from the greatest id of a job below another, as far down as so many rows reach.
-- moves: nothing
-- index: ready_entries (job_id) backwards; primary keys of deferred_jobs and finished_jobs
-- bound: rows a place
-- params: before_id (null: from the newest), rows, lanes, deferred, finished (booleans: which places)
-- By rows and not by ids: most ids were never jobs, or are gone, and where an operation has moved jobs to and fro each id stands for many
-- rows. `newest` is null where there is nothing below, `least` where there are fewer rows than that.
SELECT max(p.newest) AS newest, max(p.least) AS least
  FROM (SELECT max(k.job_id) AS newest, CASE WHEN count(*) = %(rows)s THEN min(k.job_id) END AS least
          FROM (SELECT r.job_id FROM awa.ready_entries r
                 WHERE %(lanes)s AND r.job_id < coalesce(%(before_id)s::bigint, 9223372036854775807)
                 ORDER BY r.job_id DESC LIMIT %(rows)s) k
        UNION ALL
        SELECT max(k.job_id), CASE WHEN count(*) = %(rows)s THEN min(k.job_id) END
          FROM (SELECT d.job_id FROM awa.deferred_jobs d
                 WHERE %(deferred)s AND d.job_id < coalesce(%(before_id)s::bigint, 9223372036854775807)
                 ORDER BY d.job_id DESC LIMIT %(rows)s) k
        UNION ALL
        SELECT max(k.job_id), CASE WHEN count(*) = %(rows)s THEN min(k.job_id) END
          FROM (SELECT f.job_id FROM awa.finished_jobs f
                 WHERE %(finished)s AND f.job_id < coalesce(%(before_id)s::bigint, 9223372036854775807)
                 ORDER BY f.job_id DESC LIMIT %(rows)s) k) p
