-- Gives a transaction back the limits that held before a look.
-- moves: nothing; settings go with the transaction
-- index: none
-- bound: constant
-- params: statement_timeout, work_mem
SELECT set_config('statement_timeout', %(statement_timeout)s, true) AS restored, set_config('work_mem', %(work_mem)s, true) AS room,
       set_config('enable_seqscan', 'on', true) AS seqscan
