-- Recent batch operations whose filter or spec names a queue, newest first.
-- moves: nothing
-- index: batch_operations (submitted_at, id)
-- bound: the newest looked_max operations
-- params: queue, looked_max, max_rows
SELECT o.id, o.op_kind, o.filter, o.spec, o.state, o.submitted_by, o.submitted_at, o.finalized_at, o.reason, o.total_matched, o.processed,
       o.skipped, o.errored, o.total_matched - o.processed - o.skipped - o.errored AS pending
  FROM (SELECT b.* FROM awa.batch_operations b ORDER BY b.submitted_at DESC, b.id DESC LIMIT %(looked_max)s) o
 WHERE o.filter ->> 'queue' = %(queue)s OR o.filter -> 'queues' @> to_jsonb(%(queue)s::text) OR o.spec ->> 'queue' = %(queue)s
 ORDER BY o.submitted_at DESC, o.id DESC
 LIMIT %(max_rows)s
