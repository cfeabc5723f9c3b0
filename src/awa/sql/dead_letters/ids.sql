-- Ids of dead letters by filter, the oldest first.
-- moves: nothing
-- index: dlq_entries (dlq_at, job_id)
-- bound: max_rows
-- params: queue, kind, fingerprint, reason (null: any), before (null: any), above (job ids above this), max_rows
SELECT d.job_id AS id FROM awa.dlq_entries d
 WHERE (%(queue)s::text IS NULL OR d.queue = %(queue)s)
   AND (%(kind)s::text IS NULL OR d.kind = %(kind)s)
   AND (%(fingerprint)s::text IS NULL OR d.fingerprint = %(fingerprint)s)
   AND (%(reason)s::text IS NULL OR d.reason = %(reason)s)
   AND (%(before)s::timestamptz IS NULL OR d.dlq_at < %(before)s)
   AND d.job_id > %(above)s
 ORDER BY d.job_id LIMIT %(max_rows)s
