-- Adds one unique job, or says who holds its key.
-- moves: nothing -> available | scheduled
-- index: see functions/105_enqueue_unique.sql
-- bound: one row
-- params: as awa.enqueue
SELECT job_id, outcome, state, created_at
  FROM awa.enqueue_unique(%(kind)s, %(args)s::json, %(queue)s, %(priority)s::int, %(run_at)s::timestamptz, %(max_attempts)s::int,
                          %(tags)s::text[], %(metadata)s::jsonb, %(ordering_key)s, %(unique_opts)s::jsonb,
                          %(concurrency_key)s::text, %(concurrency_limit)s::int)
