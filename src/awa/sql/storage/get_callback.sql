-- A callback with the state that its job has now.
-- moves: nothing
-- index: callbacks primary key; that of awa.find_job
-- bound: one row
-- params: callback_id
SELECT c.callback_id, c.job_id, c.attempt, c.queue, c.kind, c.registered_at, c.timeout_s, c.expires_at, c.waiting_since, c.resolution,
       c.payload, c.error, c.resolved_at, c.resolved_by, c.applied_at, c.led_to,
       coalesce(jsonb_array_length(c.if_completed), 0) AS follows_completion, coalesce(jsonb_array_length(c.if_failed), 0) AS follows_failure,
       (SELECT j.state FROM awa.find_job(c.job_id) j) AS job_state,
       EXISTS (SELECT FROM awa.deferred_jobs d WHERE d.job_id = c.job_id AND d.callback_id = c.callback_id) AS waits
  FROM awa.callbacks c WHERE c.callback_id = %(callback_id)s
