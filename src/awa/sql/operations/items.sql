-- Items of an operation by job id, a page at a time.
-- moves: nothing
-- index: batch_operation_items primary key
-- bound: limit rows, and the items of other outcomes that lie between them
-- params: id, outcome and reason (null: any), after (job id), limit
SELECT operation_id, job_id, state, reason, error, processed_at, before
  FROM awa.batch_operation_items
 WHERE operation_id = %(id)s AND job_id > %(after)s
   AND (%(outcome)s::text IS NULL OR state = %(outcome)s)
   AND (%(reason)s::text IS NULL OR reason = %(reason)s)
 ORDER BY job_id
 LIMIT %(limit)s
