-- Deletes failed, cancelled and recorded jobs that were kept long enough.
-- moves: failed | cancelled | completed -> gone
-- index: finished_jobs (finalized_at), the partial one of completed jobs and that of all
-- bound: max_rows, the oldest of each kind first
-- Dead letters stay until their own retention is over.
-- params: keep_s, completed_keep_s, max_rows, now (null: the database's clock)
WITH recorded AS (
    SELECT f.job_id FROM awa.finished_jobs f
     WHERE f.state = 'completed'
       AND f.finalized_at < coalesce(%(now)s::timestamptz, now()) - make_interval(secs => %(completed_keep_s)s::float8)
     ORDER BY f.finalized_at LIMIT %(max_rows)s FOR UPDATE SKIP LOCKED
), others AS (
    SELECT f.job_id FROM awa.finished_jobs f
     WHERE f.state <> 'completed'
       AND f.finalized_at < coalesce(%(now)s::timestamptz, now()) - make_interval(secs => %(keep_s)s::float8)
       AND NOT EXISTS (SELECT FROM awa.dlq_entries d WHERE d.job_id = f.job_id)
     ORDER BY f.finalized_at LIMIT %(max_rows)s FOR UPDATE SKIP LOCKED
)
DELETE FROM awa.finished_jobs f
 WHERE f.job_id IN (SELECT k.job_id FROM (SELECT r.job_id FROM recorded r UNION ALL SELECT o.job_id FROM others o) k
                     LIMIT %(max_rows)s)
