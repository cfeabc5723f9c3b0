-- Lets workers claim from a queue again, and wakes them.
-- moves: nothing
-- index: queue_meta primary key
-- bound: one row
-- params: queue
WITH resumed AS (
    UPDATE awa.queue_meta SET paused = false, paused_by = NULL, paused_at = NULL WHERE queue = %(queue)s
    RETURNING queue, paused, paused_by, paused_at, enqueue_shards, description, max_running, rate_limit, rate_period_s
)
SELECT r.*, awa.notify_if_idle(r.queue) IS NULL AS woken FROM resumed r
