-- Each queue with its jobs by state. Waiting and running are exact; completed, failed and cancelled count what is still kept.
-- moves: nothing
-- index: the backlog by lane; closures and finished_jobs are read whole
-- bound: the backlog and the history kept
-- params: queue (null: all)
WITH waiting AS (
    SELECT j.queue, j.state, count(*) AS jobs, min(j.ready_at) FILTER (WHERE j.state = 'available') AS oldest
      FROM awa.waiting_backlog j WHERE %(queue)s::text IS NULL OR j.queue = %(queue)s GROUP BY 1, 2
), running AS (
    SELECT l.queue, count(*) AS jobs
      FROM awa.runtimes r
     CROSS JOIN LATERAL awa.open_attempts(r.id, r.open_since - interval '1 second') o
      JOIN awa.lanes l ON l.lane_id = o.lane_id GROUP BY 1
), done AS (
    SELECT k.queue, k.jobs FROM awa.completed_kept() k
), waits AS (
    SELECT d.queue, count(*) AS jobs FROM awa.deferred_jobs d WHERE d.state = 'waiting_external' GROUP BY 1
), finished AS (
    SELECT f.queue, f.state, count(*) AS jobs FROM awa.finished_jobs f WHERE f.state <> 'completed' GROUP BY 1, 2
), names AS (
    SELECT queue FROM awa.queue_meta UNION SELECT queue FROM awa.lanes UNION SELECT queue FROM waiting
)
SELECT n.queue, coalesce(m.paused, false) AS paused, m.paused_by, m.paused_at, coalesce(m.enqueue_shards, 1) AS enqueue_shards,
       m.max_running, m.rate_limit, m.rate_period_s,
       coalesce(sum(w.jobs) FILTER (WHERE w.state = 'available'), 0)::bigint AS available,
       coalesce(sum(w.jobs) FILTER (WHERE w.state = 'scheduled'), 0)::bigint AS scheduled,
       coalesce(sum(w.jobs) FILTER (WHERE w.state = 'retryable'), 0)::bigint AS retryable,
       coalesce((SELECT r.jobs FROM running r WHERE r.queue = n.queue), 0)::bigint AS running,
       coalesce((SELECT d.jobs FROM waits d WHERE d.queue = n.queue), 0)::bigint AS waiting_external,
       coalesce((SELECT d.jobs FROM done d WHERE d.queue = n.queue), 0)::bigint AS completed,
       coalesce((SELECT f.jobs FROM finished f WHERE f.queue = n.queue AND f.state = 'failed'), 0)::bigint AS failed,
       coalesce((SELECT f.jobs FROM finished f WHERE f.queue = n.queue AND f.state = 'cancelled'), 0)::bigint AS cancelled,
       min(w.oldest) AS oldest_available_at,
       extract(epoch FROM clock_timestamp() - min(w.oldest))::float8 AS oldest_available_age_s
  FROM names n
  LEFT JOIN awa.queue_meta m ON m.queue = n.queue
  LEFT JOIN waiting w ON w.queue = n.queue
 WHERE %(queue)s::text IS NULL OR n.queue = %(queue)s
 GROUP BY n.queue, m.queue
 ORDER BY n.queue
