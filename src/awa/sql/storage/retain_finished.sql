-- Deletes failed, cancelled and recorded jobs that were kept long enough.
-- moves: failed | cancelled | completed -> gone
-- index: finished_jobs (finalized_at)
-- bound: max_rows, the oldest first
-- Dead letters stay until their own retention is over.
-- params: keep_s, completed_keep_s, max_rows, now (null: the database's clock)
WITH old AS (
    SELECT job_id FROM awa.finished_jobs k
     WHERE finalized_at < coalesce(%(now)s::timestamptz, now())
                          - make_interval(secs => least(%(keep_s)s::float8, %(completed_keep_s)s::float8))
       AND finalized_at < coalesce(%(now)s::timestamptz, now())
                          - make_interval(secs => CASE WHEN state = 'completed' THEN %(completed_keep_s)s::float8 ELSE %(keep_s)s::float8 END)
       AND NOT EXISTS (SELECT FROM awa.dlq_entries d WHERE d.job_id = k.job_id)
     ORDER BY finalized_at LIMIT %(max_rows)s FOR UPDATE SKIP LOCKED
)
DELETE FROM awa.finished_jobs f USING old WHERE f.job_id = old.job_id
