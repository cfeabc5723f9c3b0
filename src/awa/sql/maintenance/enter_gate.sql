-- Enters the gate of a lease and bounds the transaction that a duty is about to run.
-- moves: nothing; settings and lock go with the transaction
-- index: none
-- bound: waits at most for one take-over
-- params: name, statement_ms, lock_ms, idle_ms
-- Many duties are inside at once; a new leader (close_gate) comes in when none is. Whether this process still leads is asked
-- in the next statement (still_leads): this one's snapshot is older than its wait.
SELECT set_config('statement_timeout', %(statement_ms)s::text, true),
       set_config('lock_timeout', %(lock_ms)s::text, true),
       set_config('idle_in_transaction_session_timeout', %(idle_ms)s::text, true),
       pg_advisory_xact_lock_shared(4715, hashtext(%(name)s))
