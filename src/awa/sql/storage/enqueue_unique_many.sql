-- Adds a set of jobs of one queue of which some are unique; a row a job in the order given, or the conflicts alone.
-- moves: nothing -> available | scheduled
-- index: see functions/107_enqueue_unique_many.sql
-- bound: the caller's set
-- params: as storage/enqueue_many, and unique_opts
SELECT ord, job_id, outcome, state, created_at
  FROM awa.enqueue_unique_many(%(queue)s, %(kinds)b::text[], %(args)b::text[], %(priorities)b::smallint[], %(run_ats)b::timestamptz[],
                               %(max_attempts)b::smallint[], %(tags)s::jsonb[], %(metadata)s::jsonb[], %(ordering_keys)b::text[],
                               %(unique_opts)s::jsonb[], %(concurrency_keys)b::text[], %(concurrency_limits)b::smallint[])
 ORDER BY ord
