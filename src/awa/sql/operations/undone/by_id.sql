-- What an operation changed and no undo has taken back, each job as it is now and why it isn't as it was left; few of them.
-- index: batch_operation_items primary key, then one look at each job
-- params: undo_of, undos (those that there were before)
SELECT i.job_id AS id, j.kind, j.queue, j.state, j.priority, i.before,
       CASE WHEN j.id IS NULL THEN 'not_waiting'
            ELSE awa.why_not_as_left(l.queue, l.priority, i.lane_seq, i.attempt, j.queue, j.priority, j.lane_seq, j.attempt) END AS why
  FROM (SELECT x.job_id, x.lane_id, x.lane_seq, x.attempt, x.before FROM awa.batch_operation_items x
         WHERE x.operation_id = %(undo_of)s AND x.state = 'processed'
           AND NOT EXISTS (SELECT FROM awa.batch_operation_items k
                            WHERE k.operation_id = ANY (%(undos)s::uuid[]) AND k.job_id = x.job_id AND k.state = 'processed')
        OFFSET 0) i
  LEFT JOIN awa.lanes l ON l.lane_id = i.lane_id
  LEFT JOIN LATERAL (SELECT w.* FROM awa.waiting_jobs w WHERE w.id = i.job_id OFFSET 0) j ON true
