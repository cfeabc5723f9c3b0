-- Takes the operation whose retention ended first, unless somebody is at work on it or is taking it back.
-- moves: nothing; the lock goes with the transaction
-- index: batch_operations (retention_until), (undo_of)
-- bound: the operations whose time is over, as far as they can't be had
-- params: before (null: what has expired), now (null: the clock)
-- Only operations that ended have a retention_until, and only ended ones are asked for, so an active one stays. What it says of
-- undos is that of its beginning: awa:operations/expire asks again, under this lock.
SELECT o.id
  FROM awa.batch_operations o
 WHERE o.state IN ('completed', 'cancelled', 'failed') AND o.retention_until IS NOT NULL
   AND CASE WHEN %(before)s::timestamptz IS NULL
            THEN o.retention_until <= coalesce(%(now)s::timestamptz, clock_timestamp())
            ELSE o.finalized_at < %(before)s::timestamptz END
   AND NOT EXISTS (SELECT FROM awa.batch_operations u
                    WHERE u.undo_of = o.id AND u.state IN ('pending', 'scanning', 'running', 'paused', 'cancelling'))
 ORDER BY o.retention_until, o.id
 LIMIT 1
   FOR UPDATE SKIP LOCKED
