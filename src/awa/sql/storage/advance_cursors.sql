-- Moves lanes' cursors over what was moved away at their front.
-- moves: nothing
-- index: that of awa.advance_cursors
-- bound: max_lanes
-- params: max_lanes
SELECT awa.advance_cursors(%(max_lanes)s) AS lanes
