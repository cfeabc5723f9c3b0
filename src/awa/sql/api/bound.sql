-- Bounds the transaction of a request, and says that it only reads if it does.
-- moves: nothing; settings go with the transaction
-- index: none
-- bound: constant
-- params: read_only (on, or null: as it is), statement_ms, lock_ms, idle_ms
-- The first statement of each request: if the pool's connection died meanwhile, it shows here and another is tried.
SELECT set_config('transaction_read_only', coalesce(%(read_only)s, current_setting('transaction_read_only')), true),
       set_config('statement_timeout', %(statement_ms)s::text, true),
       set_config('lock_timeout', %(lock_ms)s::text, true),
       set_config('idle_in_transaction_session_timeout', %(idle_ms)s::text, true)
