-- How many jobs of some queues wait for a time or ended otherwise than plainly completed, by state.
-- moves: nothing
-- index: deferred_jobs (queue, job_id), finished_jobs (queue, job_id)
-- bound: looked_max rows a queue and table
-- params: queues, looked_max
SELECT q.queue, d.looked AS deferred_looked, d.scheduled, d.retryable, d.waiting_external, f.looked AS finished_looked, f.failed, f.cancelled
  FROM unnest(%(queues)b::text[]) q(queue)
 CROSS JOIN LATERAL (
       SELECT count(*) AS looked, count(*) FILTER (WHERE k.state = 'scheduled') AS scheduled,
              count(*) FILTER (WHERE k.state = 'retryable') AS retryable,
              count(*) FILTER (WHERE k.state = 'waiting_external') AS waiting_external
         FROM (SELECT e.state FROM awa.deferred_jobs e WHERE e.queue = q.queue LIMIT %(looked_max)s) k) d
 CROSS JOIN LATERAL (
       SELECT count(*) AS looked, count(*) FILTER (WHERE k.state = 'failed') AS failed,
              count(*) FILTER (WHERE k.state = 'cancelled') AS cancelled
         FROM (SELECT e.state FROM awa.finished_jobs e WHERE e.queue = q.queue ORDER BY e.job_id DESC LIMIT %(looked_max)s) k) f
