-- Which operation the runner serves next.
-- moves: nothing
-- index: the partial index of active operations
-- bound: the active operations
-- params: side_by_side (operations that may be under way at once), now (null: the clock)
-- Those under way come before those that have not begun, so at most side_by_side are; among them the greatest
-- urgency, then whoever was served longest ago. One that waits for a time takes no place. Ending a cancelled
-- one costs nothing and goes first.
SELECT k.id, k.state
  FROM (SELECT o.id, o.state, o.priority, o.updated_at
          FROM awa.batch_operations o
         WHERE o.state IN ('pending', 'scanning', 'running', 'cancelling')
           AND (o.wait_until IS NULL OR o.wait_until <= coalesce(%(now)s::timestamptz, clock_timestamp())
                OR o.state = 'cancelling')
         ORDER BY o.state = 'cancelling' DESC, o.priority, o.state = 'pending', o.submitted_at, o.id
         LIMIT %(side_by_side)s) k
 ORDER BY k.state = 'cancelling' DESC, k.priority, k.updated_at, k.id
 LIMIT 1
