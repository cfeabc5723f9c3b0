-- Whether any job was ever enqueued here: the sequence of positions has been used.
-- moves: nothing
-- index: none
-- bound: one row
-- params: none
SELECT is_called FROM awa.job_positions
