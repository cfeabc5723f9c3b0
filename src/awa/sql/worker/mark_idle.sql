-- Says that this listener sleeps on a queue: from now on an enqueue wakes it; false if the lock is in other hands just now.
-- moves: nothing
-- index: none
-- bound: one shared advisory lock, held by the listener's own connection
-- params: queue
SELECT awa.mark_idle(%(queue)s) AS marked
