-- Jobs that wait for a time, run, or ended otherwise than plainly completed, by kind and state.
-- moves: nothing
-- index: primary keys; running as awa.open_attempts
-- bound: looked_max rows a place; of ended jobs the newest
-- params: looked_max
SELECT j.kind, j.state, count(*) AS jobs, sum(count(*)) OVER (PARTITION BY j.place)::bigint AS looked
  FROM ((SELECT 'deferred' AS place, d.kind, d.state FROM awa.deferred_jobs d WHERE d.state <> 'available' ORDER BY d.job_id DESC LIMIT %(looked_max)s)
        UNION ALL
        (SELECT 'finished', f.kind, f.state FROM awa.finished_jobs f ORDER BY f.job_id DESC LIMIT %(looked_max)s)
        UNION ALL
        (SELECT 'running', r.kind, r.state FROM awa.running_jobs r LIMIT %(looked_max)s)) j
 GROUP BY j.place, j.kind, j.state
