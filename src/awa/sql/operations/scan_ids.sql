-- Lists jobs named by id, a page at a time.
-- moves: nothing; adds items
-- index: that of awa.waiting_jobs for ids; batch_operation_items primary key
-- bound: the ids given
-- params: id (operation), ids (the page), left (items that may still be listed; null: any number), and those of the filter
-- What is listed already must not take a place of those that may still be listed.
WITH listed AS (
    INSERT INTO awa.batch_operation_items (operation_id, job_id, lane_id, lane_seq, slot)
    SELECT %(id)s, j.id, j.lane_id, j.lane_seq, j.slot
      FROM awa.waiting_jobs j
     WHERE j.id = ANY (%(ids)s::bigint[]) AND j.id <= %(bound)s AND {filter}
       AND (%(left)s::bigint IS NULL OR NOT EXISTS (
           SELECT FROM awa.batch_operation_items i WHERE i.operation_id = %(id)s AND i.job_id = j.id OFFSET 0))
     ORDER BY j.id
     LIMIT %(left)s
    ON CONFLICT (operation_id, job_id) DO NOTHING
    RETURNING 1
)
SELECT count(*) AS listed FROM listed
