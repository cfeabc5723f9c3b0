-- Answers a callback from outside; says what came of it.
-- moves: waiting_external -> completed | failed | retryable | available
-- index: see functions/460_callbacks.sql
-- bound: one job
-- params: callback_id, resolution, payload (JSON text or null), error (JSON text or null), by, timeout_s (for a heartbeat, or null)
SELECT outcome, job_id, job_state, resolution, resolved_at, resolved_by, expires_at
  FROM awa.resolve_callback(%(callback_id)s::uuid, %(resolution)s, %(payload)s::jsonb, %(error)s::jsonb, %(by)s, %(timeout_s)s::float8)
