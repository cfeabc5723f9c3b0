-- Deletes dead letters that were kept long enough.
-- moves: failed -> gone
-- index: dlq_entries (dlq_at, job_id)
-- bound: max_rows, the oldest first
-- params: keep_s, max_rows, now (null: the clock)
WITH old AS (
    SELECT d.job_id FROM awa.dlq_entries d
     WHERE d.dlq_at < coalesce(%(now)s::timestamptz, now()) - make_interval(secs => %(keep_s)s)
     ORDER BY d.dlq_at LIMIT %(max_rows)s FOR UPDATE SKIP LOCKED
)
DELETE FROM awa.finished_jobs f USING old WHERE f.job_id = old.job_id
