-- Adds a set of jobs of one queue of which some have concurrency keys; a row a job, in the order given.
-- moves: nothing -> available | scheduled
-- index: see functions/104_enqueue_limited.sql
-- bound: the caller's chunk
-- params: as storage/enqueue_many, then the keys and their limits
SELECT e.ord, e.job_id, e.state, t.at
  FROM (SELECT clock_timestamp() AS at OFFSET 0) t, awa.enqueue_limited(%(queue)s, %(kinds)b::text[], %(args)b::text[], %(priorities)b::smallint[],
                        %(run_ats)b::timestamptz[], %(max_attempts)b::smallint[], %(tags)s::jsonb[], %(metadata)s::jsonb[],
                        %(ordering_keys)b::text[], %(concurrency_keys)b::text[], %(concurrency_limits)b::smallint[]) e
 ORDER BY e.ord
