-- Wakes a worker that sleeps on a queue, for jobs that are committed.
-- moves: nothing
-- index: none
-- bound: two lock calls
-- params: queue
-- Nothing is at stake, so this commit doesn't wait for the disk, and the lock that a notification takes is given back at once.
SELECT awa.notify_if_idle(%(queue)s) AS told FROM (SELECT set_config('synchronous_commit', 'off', true) OFFSET 0) unhurried
