-- How many dead letters a choice has.
-- moves: nothing
-- index: dlq_entries whole, or by queue, or by fingerprint
-- bound: the dead letters
-- params: queue, kind, fingerprint, reason, before (null: any)
SELECT count(*) AS letters FROM awa.dlq_entries d
 WHERE (%(queue)s::text IS NULL OR d.queue = %(queue)s)
   AND (%(kind)s::text IS NULL OR d.kind = %(kind)s)
   AND (%(fingerprint)s::text IS NULL OR d.fingerprint = %(fingerprint)s)
   AND (%(reason)s::text IS NULL OR d.reason = %(reason)s)
   AND (%(before)s::timestamptz IS NULL OR d.dlq_at < %(before)s)
