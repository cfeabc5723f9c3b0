-- Lists what an operation changed and no other undo has taken back, a page at a time by job id.
-- moves: nothing; adds items
-- index: batch_operation_items primary key, batch_operations (undo_of)
-- bound: rows examined, whether they were changed or not; a probe for each earlier undo of the same operation
-- params: id (the undo), undo_of (what it takes back), after (job id), rows, left (items that may still be listed; null: any number)
-- That operation has ended, so its items stay as they are, and awa:operations/expire leaves them as long as this undo is active.
WITH page AS MATERIALIZED (
    SELECT i.job_id, i.lane_id, i.lane_seq, i.slot,
           i.state = 'processed' AND NOT EXISTS (
               SELECT FROM awa.batch_operations u
                 JOIN awa.batch_operation_items k ON k.operation_id = u.id AND k.job_id = i.job_id AND k.state = 'processed'
                WHERE u.undo_of = %(undo_of)s AND u.id <> %(id)s OFFSET 0) AS matches
      FROM (SELECT x.* FROM awa.batch_operation_items x
             WHERE x.operation_id = %(undo_of)s AND x.job_id > %(after)s
             ORDER BY x.job_id LIMIT %(rows)s) i
), listed AS (
    INSERT INTO awa.batch_operation_items (operation_id, job_id, lane_id, lane_seq, slot)
    SELECT %(id)s, p.job_id, p.lane_id, p.lane_seq, p.slot FROM page p WHERE p.matches ORDER BY p.job_id LIMIT %(left)s
    ON CONFLICT (operation_id, job_id) DO NOTHING
    RETURNING 1
)
SELECT count(*) AS walked, max(p.job_id) AS last_id, (SELECT count(*) FROM listed) AS listed FROM page p
