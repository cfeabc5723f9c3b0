-- There is no cursor to move on: a job that moves takes its row along.
-- moves: nothing
-- index: none
-- bound: constant
CREATE OR REPLACE FUNCTION awa.advance_cursors(p_lanes_max int) RETURNS int
LANGUAGE sql IMMUTABLE AS $$ SELECT 0; $$;
