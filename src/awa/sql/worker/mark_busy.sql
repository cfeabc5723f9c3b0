-- Says that this listener no longer sleeps on a queue: enqueues need not wake it.
-- moves: nothing
-- index: none
-- bound: one shared advisory lock
-- params: queue
SELECT awa.mark_busy(%(queue)s);
