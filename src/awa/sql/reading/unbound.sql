-- Gives a transaction back the time limit that held before a look.
-- moves: nothing; settings go with the transaction
-- index: none
-- bound: constant
-- params: statement_timeout
SELECT set_config('statement_timeout', %(statement_timeout)s, true) AS restored,
       set_config('enable_seqscan', 'on', true) AS seqscan
