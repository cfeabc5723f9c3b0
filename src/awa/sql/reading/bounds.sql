-- Bounds the statements of a look, and leaves no more than they need to the planner; answers the limits that held before.
-- moves: nothing; settings go with the transaction
-- index: none
-- bound: constant
-- params: statement_ms
-- The ring's partitions are truncated and filled again all day, so statistics about them are old. Compiling a plan (jit) that the
-- planner thinks dear costs more than running it; a sequential scan is never what a bounded look wants. A hundred thousand ids are
-- sorted in memory.
SELECT current_setting('statement_timeout') AS statement_timeout, current_setting('work_mem') AS work_mem,
       set_config('statement_timeout', %(statement_ms)s::text, true) AS bounded, set_config('work_mem', '32MB', true) AS roomy,
       set_config('jit', 'off', true) AS jit, set_config('enable_seqscan', 'off', true) AS seqscan
