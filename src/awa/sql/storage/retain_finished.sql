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
), gone AS MATERIALIZED (
    DELETE FROM awa.finished_jobs f
     WHERE f.job_id IN (SELECT k.job_id FROM (SELECT r.job_id FROM recorded r UNION ALL SELECT o.job_id FROM others o) k
                         LIMIT %(max_rows)s) RETURNING f.job_id, f.unique_key, f.queue, f.state
), keys AS MATERIALIZED (
    SELECT awa.follow_keys(array_agg(g.job_id), array_agg(g.unique_key), array_agg(g.queue), array_agg(g.state),
                           array_agg('gone'::text))
      FROM gone g WHERE g.unique_key IS NOT NULL HAVING count(*) > 0
)
SELECT count(*) FROM gone LEFT JOIN keys ON true
