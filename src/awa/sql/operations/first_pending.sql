-- The item that the next chunk would begin with.
-- moves: nothing
-- index: batch_operation_items primary key
-- bound: the accounted items that a later pass has to walk past
-- params: id, after (job id)
SELECT i.job_id
  FROM awa.batch_operation_items i
 WHERE i.operation_id = %(id)s AND i.job_id > %(after)s AND i.state = 'pending'
 ORDER BY i.job_id
 LIMIT 1
