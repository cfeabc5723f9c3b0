-- Adds a set of jobs of one queue; a row a job, in the order given.
-- moves: nothing -> available | scheduled
-- index: see functions/101_enqueue_many.sql
-- bound: the caller's chunk
-- params: queue and arrays, binary, since a text array would escape each quote of the documents
SELECT e.ord, e.job_id, e.state, t.at
  FROM (SELECT clock_timestamp() AS at OFFSET 0) t, awa.enqueue_many(%(queue)s, %(kinds)b::text[], %(args)b::text[], %(priorities)b::smallint[],
                        %(run_ats)b::timestamptz[], %(max_attempts)b::smallint[], %(tags)s::jsonb[], %(metadata)s::jsonb[],
                        %(ordering_keys)b::text[]) e
 ORDER BY e.ord
