-- Lists deferred jobs, a page at a time by job id.
-- moves: nothing; adds items
-- index: deferred_jobs (queue, job_id) for one queue, else its primary key; batch_operation_items primary key
-- bound: rows examined, whether they match or not
-- params: id (operation), after (job id), bound (greatest job id), queue (null: any), parked_only (available ones alone), rows, left (items that may
--         still be listed; null: any number), and those of the filter
-- What is listed already must not take a place of those that may still be listed.
WITH page AS MATERIALIZED (
    SELECT j.id, ({filter}) AS matches
      FROM (SELECT d.job_id AS id, d.kind, d.queue, d.state, d.priority, d.attempt, d.created_at, d.run_at, d.args,
                   coalesce(d.tags, ARRAY[]::text[]) AS tags, coalesce(d.errors, jsonb_build_array()) AS errors,
                   NULL::timestamptz AS finalized_at
              FROM awa.deferred_jobs d
             WHERE d.job_id > %(after)s AND d.job_id <= %(bound)s AND (%(queue)s::text IS NULL OR d.queue = %(queue)s)
               AND d.state <> 'waiting_external'
               AND (NOT %(parked_only)s::boolean OR d.state = 'available')
             ORDER BY d.job_id
             LIMIT %(rows)s) j
), listed AS (
    INSERT INTO awa.batch_operation_items (operation_id, job_id)
    SELECT %(id)s, p.id FROM page p
     WHERE p.matches AND (%(left)s::bigint IS NULL OR NOT EXISTS (
           SELECT FROM awa.batch_operation_items i WHERE i.operation_id = %(id)s AND i.job_id = p.id OFFSET 0))
     ORDER BY p.id LIMIT %(left)s
    ON CONFLICT (operation_id, job_id) DO NOTHING
    RETURNING 1
)
SELECT count(*) AS walked, max(p.id) AS last_id, (SELECT count(*) FROM listed) AS listed FROM page p
