-- Operations, newest first, a page at a time.
-- moves: nothing
-- index: batch_operations (submitted_at, id)
-- bound: limit rows
-- params: state (null: any), before_at and before_id (null: from the newest), limit
SELECT o.*, o.total_matched - o.processed - o.skipped - o.errored AS pending
  FROM awa.batch_operations o
 WHERE (%(state)s::text IS NULL OR o.state = %(state)s)
   AND (%(before_id)s::uuid IS NULL OR (o.submitted_at, o.id) < (%(before_at)s::timestamptz, %(before_id)s::uuid))
 ORDER BY o.submitted_at DESC, o.id DESC
 LIMIT %(limit)s
