-- Keeps everybody out of the jobs until the conversion is committed.
-- moves: nothing
-- index: none
-- bound: constant; waits 10 seconds for transactions that use them
SET LOCAL lock_timeout = '10s';
LOCK TABLE awa.ready_entries, awa.deferred_jobs, awa.finished_jobs, awa.runtimes IN ACCESS EXCLUSIVE MODE
