-- Lets what follows in this transaction join by hashing: of new items and of the backlog the planner knows too little.
-- moves: nothing
-- index: none
-- bound: constant
SELECT set_config('enable_nestloop', 'off', true)
