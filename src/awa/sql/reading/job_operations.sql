-- The batch operations that had this job among theirs, newest first.
-- moves: nothing
-- index: batch_operations (submitted_at, id), batch_operation_items primary key
-- bound: the newest looked_max operations, a probe each; max_rows come back
-- params: id, looked_max, max_rows
SELECT o.id, o.op_kind, o.spec, o.submitted_by, o.submitted_at, o.reason, i.state AS outcome, i.reason AS item_reason, i.error,
       i.processed_at, i.before
  FROM (SELECT b.* FROM awa.batch_operations b ORDER BY b.submitted_at DESC, b.id DESC LIMIT %(looked_max)s) o
 CROSS JOIN LATERAL (SELECT k.* FROM awa.batch_operation_items k WHERE k.operation_id = o.id AND k.job_id = %(id)s OFFSET 0) i
 ORDER BY o.submitted_at DESC, o.id DESC
 LIMIT %(max_rows)s
