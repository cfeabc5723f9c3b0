-- Deletes items of an operation, and the operation itself once it has none left, unless it is being undone.
-- moves: nothing; deletes
-- index: batch_operations primary key and (undo_of), batch_operation_items primary key
-- bound: items; the operation's totals and events go with it
-- params: id (the caller has it locked), items
-- A new statement after the lock: who undoes an operation holds it until the undo is committed. From the first chunk on it can't be undone.
WITH old AS MATERIALIZED (
    SELECT o.id
      FROM awa.batch_operations o
     WHERE o.id = %(id)s
       AND NOT EXISTS (SELECT FROM awa.batch_operations u
                        WHERE u.undo_of = o.id AND u.state IN ('pending', 'scanning', 'running', 'paused', 'cancelling'))
), gone AS (
    DELETE FROM awa.batch_operation_items i
     USING (SELECT k.operation_id, k.job_id FROM old, awa.batch_operation_items k
             WHERE k.operation_id = old.id ORDER BY k.job_id LIMIT %(items)s) k
     WHERE i.operation_id = k.operation_id AND i.job_id = k.job_id
    RETURNING 1
), begun AS (
    UPDATE awa.batch_operations o
       SET purge_began_at = coalesce(o.purge_began_at, clock_timestamp())
      FROM old
     WHERE o.id = old.id AND (SELECT count(*) FROM gone) = %(items)s
), ended AS (
    DELETE FROM awa.batch_operations o
     USING old
     WHERE o.id = old.id AND (SELECT count(*) FROM gone) < %(items)s
    RETURNING 1
)
SELECT (SELECT count(*) FROM gone) AS items, (SELECT count(*) FROM ended) AS operations
