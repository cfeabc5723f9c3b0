-- Has anything ever been said of or put into this queue?
-- moves: nothing
-- index: primary keys, lanes unique (queue, …)
-- bound: three probes
-- params: queue
SELECT EXISTS (SELECT FROM awa.queue_meta WHERE queue = %(queue)s)
    OR EXISTS (SELECT FROM awa.lanes WHERE queue = %(queue)s)
    OR EXISTS (SELECT FROM awa.deferred_jobs WHERE queue = %(queue)s) AS found
