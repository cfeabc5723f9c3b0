-- The callbacks of a job, newest first.
-- moves: nothing
-- index: callbacks (job_id)
-- bound: max_rows
-- params: job_id, max_rows
SELECT c.callback_id, c.job_id, c.attempt, c.queue, c.kind, c.registered_at, c.timeout_s, c.expires_at, c.waiting_since, c.resolution,
       c.payload, c.error, c.resolved_at, c.resolved_by, c.applied_at, c.led_to,
       coalesce(jsonb_array_length(c.if_completed), 0) AS follows_completion, coalesce(jsonb_array_length(c.if_failed), 0) AS follows_failure,
       EXISTS (SELECT FROM awa.deferred_jobs d WHERE d.job_id = c.job_id AND d.callback_id = c.callback_id) AS waits
  FROM awa.callbacks c WHERE c.job_id = %(job_id)s ORDER BY c.registered_at DESC, c.callback_id LIMIT %(max_rows)s
