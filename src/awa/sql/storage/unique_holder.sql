-- The job that holds the key which a job like this would have.
-- moves: nothing
-- index: unique_keys primary key
-- bound: one row
-- params: kind, args, queue, unique_opts, run_at (null: now)
SELECT awa.unique_holder(%(kind)s::text, %(args)s::json, %(queue)s, %(unique_opts)s::jsonb, %(run_at)s::timestamptz) AS job_id
