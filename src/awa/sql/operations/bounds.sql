-- Bounds what this transaction may take; the settings go with it.
-- moves: nothing
-- index: none
-- bound: constant
-- params: statement_ms
SELECT set_config('statement_timeout', %(statement_ms)s::text, true)
