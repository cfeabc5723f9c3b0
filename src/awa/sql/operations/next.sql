-- Which operation the runner serves next.
-- moves: nothing
-- index: the partial index of active operations, batch_operation_holds (released_at IS NULL)
-- bound: the active operations
-- params: side_by_side (operations that may be under way at once), now (null: the clock)
-- Those under way come before those that have not begun, so at most side_by_side are; among them the greatest
-- urgency, then whoever was served longest ago. One that waits for a time takes no place, nor does a paused one. Ending a
-- cancelled one costs nothing and goes first, even while all are held.
SELECT k.id, k.state
  FROM (SELECT o.id, o.state, o.priority, o.updated_at
          FROM awa.batch_operations o
         WHERE o.state IN ('pending', 'scanning', 'running', 'cancelling')
           AND (o.state = 'cancelling'
                OR (coalesce(greatest(o.wait_until, o.paced_until, o.not_before) <= coalesce(%(now)s::timestamptz, clock_timestamp()), true)
                    AND NOT EXISTS (SELECT FROM awa.batch_operation_holds h WHERE h.released_at IS NULL)))
         ORDER BY o.state = 'cancelling' DESC, o.priority, o.state = 'pending', o.submitted_at, o.id
         LIMIT %(side_by_side)s) k
 ORDER BY k.state = 'cancelling' DESC, k.priority, k.updated_at, k.id
 LIMIT 1
