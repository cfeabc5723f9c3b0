-- The database's clock.
-- moves: nothing
-- index: none
-- bound: one row
SELECT clock_timestamp() AS now
