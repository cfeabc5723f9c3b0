-- Adds a set of jobs that differ in their arguments alone; one row.
-- moves: nothing -> available | scheduled
-- index: see functions/102_enqueue_alike.sql
-- bound: the caller's chunk
-- params: as awa.enqueue; args is a binary array of JSON texts
SELECT job_ids, state, created_at
  FROM awa.enqueue_alike(%(queue)s, %(kind)s, %(args)b::text[], %(priority)s, %(run_at)s::timestamptz, %(max_attempts)s,
                         %(tags)s::text[], %(metadata)s::jsonb, %(ordering_key)s::text)
