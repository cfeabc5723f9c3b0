-- The present snapshot, as text: what ended before it is visible, what ends later is not.
-- moves: nothing
-- index: none
-- bound: constant
SELECT pg_current_snapshot()::text AS snapshot
