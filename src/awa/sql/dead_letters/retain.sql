-- Deletes dead letters that were kept long enough.
-- moves: failed -> gone
-- index: dlq_entries (dlq_at, job_id)
-- bound: max_rows, the oldest first
-- params: keep_s, max_rows, now (null: the clock)
WITH old AS (
    SELECT d.job_id FROM awa.dlq_entries d
     WHERE d.dlq_at < coalesce(%(now)s::timestamptz, now()) - make_interval(secs => %(keep_s)s)
     ORDER BY d.dlq_at LIMIT %(max_rows)s FOR UPDATE SKIP LOCKED
), gone AS MATERIALIZED (
    DELETE FROM awa.finished_jobs f USING old WHERE f.job_id = old.job_id RETURNING f.job_id, f.unique_key, f.queue, f.state
), keys AS MATERIALIZED (
    SELECT awa.follow_keys(array_agg(g.job_id), array_agg(g.unique_key), array_agg(g.queue), array_agg(g.state),
                           array_agg('gone'::text))
      FROM gone g WHERE g.unique_key IS NOT NULL HAVING count(*) > 0
)
SELECT count(*) FROM gone LEFT JOIN keys ON true
