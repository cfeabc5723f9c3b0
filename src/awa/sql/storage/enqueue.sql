-- Adds one job.
-- moves: nothing -> available | scheduled
-- index: see functions/100_enqueue.sql
-- bound: one row
-- params: as awa.enqueue
SELECT awa.enqueue(%(kind)s, %(args)s::json, %(queue)s, %(priority)s, %(run_at)s, %(max_attempts)s, %(tags)s::text[],
                   %(metadata)s::jsonb, %(ordering_key)s) AS job_id,
       CASE WHEN %(run_at)s::timestamptz > t.at THEN 'scheduled' ELSE 'available' END AS state, t.at AS created_at
  FROM (SELECT clock_timestamp() AS at OFFSET 0) t
