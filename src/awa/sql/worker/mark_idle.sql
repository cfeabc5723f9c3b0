-- Says that this listener sleeps on a queue: from now on an enqueue wakes it.
-- moves: nothing
-- index: none
-- bound: one shared advisory lock, held by the listener's own connection
-- params: queue
SELECT awa.mark_idle(%(queue)s);
