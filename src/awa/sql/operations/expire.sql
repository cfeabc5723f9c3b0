-- Deletes items of the operation whose retention ended first, and the operation itself once it has none left.
-- moves: nothing; deletes
-- index: batch_operations (retention_until), batch_operation_items primary key
-- bound: items; the operation's totals and events go with it
-- params: items, before (null: what has expired), now (null: the clock)
-- Only operations that ended have a retention_until, and only ended ones are asked for, so an active one stays.
WITH old AS (
    SELECT o.id
      FROM awa.batch_operations o
     WHERE o.state IN ('completed', 'cancelled', 'failed') AND o.retention_until IS NOT NULL
       AND CASE WHEN %(before)s::timestamptz IS NULL
                THEN o.retention_until <= coalesce(%(now)s::timestamptz, clock_timestamp())
                ELSE o.finalized_at < %(before)s::timestamptz END
     ORDER BY o.retention_until, o.id
     LIMIT 1
       FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM awa.batch_operation_items i
     USING (SELECT k.operation_id, k.job_id FROM old, awa.batch_operation_items k
             WHERE k.operation_id = old.id ORDER BY k.job_id LIMIT %(items)s) k
     WHERE i.operation_id = k.operation_id AND i.job_id = k.job_id
    RETURNING 1
), ended AS (
    DELETE FROM awa.batch_operations o
     USING old
     WHERE o.id = old.id AND (SELECT count(*) FROM gone) < %(items)s
    RETURNING 1
)
SELECT (SELECT count(*) FROM old) AS found, (SELECT count(*) FROM gone) AS items, (SELECT count(*) FROM ended) AS operations
