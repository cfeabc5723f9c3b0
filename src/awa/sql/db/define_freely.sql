-- Lets functions be created in any order within this transaction; each call still checks the body it runs.
-- moves: nothing
-- index: none
-- bound: constant
SET LOCAL check_function_bodies = off
