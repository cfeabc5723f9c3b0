-- Ids of waiting jobs of a queue, by id, for work in chunks.
-- moves: nothing
-- index: the backlog of the queue's lanes, deferred_jobs (queue, job_id)
-- bound: max_rows
-- params: queue, after_id, max_rows
SELECT j.id FROM awa.waiting_backlog j WHERE j.queue = %(queue)s AND j.id > %(after_id)s ORDER BY j.id LIMIT %(max_rows)s
