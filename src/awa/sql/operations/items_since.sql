-- Items of an operation by job id, a page at a time, and what has become of their jobs since.
-- moves: nothing
-- index: batch_operation_items primary key, then one look at each job (views/120_find_job.sql)
-- bound: limit rows, and the items of other outcomes that lie between them
-- params: id, outcome and reason (null: any), after (job id), limit
-- A job that is no longer kept has nulls. The page is cut before the jobs are looked for.
SELECT i.operation_id, i.job_id, i.state, i.reason, i.error, i.processed_at, i.before,
       j.state AS job_state, j.queue AS job_queue, j.priority AS job_priority, j.attempt AS job_attempt,
       j.finalized_at AS job_finalized_at
  FROM (SELECT operation_id, job_id, state, reason, error, processed_at, before
          FROM awa.batch_operation_items
         WHERE operation_id = %(id)s AND job_id > %(after)s
           AND (%(outcome)s::text IS NULL OR state = %(outcome)s)
           AND (%(reason)s::text IS NULL OR reason = %(reason)s)
         ORDER BY job_id
         LIMIT %(limit)s) i
  LEFT JOIN LATERAL awa.find_job(i.job_id) j ON true
 ORDER BY i.job_id
