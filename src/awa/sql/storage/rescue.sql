-- Takes attempts back from runtimes that are gone and from those past their deadline.
-- moves: running -> retryable | failed
-- index: see functions/510_rescue.sql
-- bound: max_attempts of each
-- params: stale_after_s, max_attempts, now (null: the database's clock)
SELECT runtimes_declared_dead, attempts_rescued, deadlines_passed
  FROM awa.rescue(%(stale_after_s)s, %(max_attempts)s, %(now)s::timestamptz)
