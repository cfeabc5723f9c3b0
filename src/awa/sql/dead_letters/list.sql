-- A page of dead letters, newest first, each with its job.
-- moves: nothing
-- index: dlq_entries (dlq_at, job_id); with a queue (queue, dlq_at); with a fingerprint (kind, fingerprint)
-- bound: max_rows
-- params: queue, kind, fingerprint, reason (null: any), before (dlq_at before this; null: any), after_at and after_id (the last row shown), max_rows
SELECT d.job_id AS id, d.dlq_at, d.reason, d.fingerprint, d.error, f.kind, f.queue, f.state, f.priority, f.attempt, f.max_attempts, f.args,
       coalesce(f.tags, '{}') AS tags, coalesce(f.metadata, '{}') AS metadata, coalesce(f.errors, '[]') AS errors,
       coalesce(f.run_at, f.created_at) AS run_at, f.created_at, f.attempted_at, f.finalized_at
  FROM awa.dlq_entries d JOIN awa.finished_jobs f ON f.job_id = d.job_id
 WHERE (%(queue)s::text IS NULL OR d.queue = %(queue)s)
   AND (%(kind)s::text IS NULL OR d.kind = %(kind)s)
   AND (%(fingerprint)s::text IS NULL OR d.fingerprint = %(fingerprint)s)
   AND (%(reason)s::text IS NULL OR d.reason = %(reason)s)
   AND (%(before)s::timestamptz IS NULL OR d.dlq_at < %(before)s)
   AND (%(after_at)s::timestamptz IS NULL OR (d.dlq_at, d.job_id) < (%(after_at)s, %(after_id)s::bigint))
 ORDER BY d.dlq_at DESC, d.job_id DESC LIMIT %(max_rows)s
