-- Stops claims from a queue; a queue that has no row yet gets one. Pausing twice keeps who did it first.
-- moves: nothing
-- index: queue_meta primary key
-- bound: one row
-- params: queue, paused_by
INSERT INTO awa.queue_meta AS m (queue, paused, paused_by, paused_at)
VALUES (%(queue)s, true, %(paused_by)s, clock_timestamp())
ON CONFLICT (queue) DO UPDATE
   SET paused = true,
       paused_by = CASE WHEN m.paused THEN m.paused_by ELSE excluded.paused_by END,
       paused_at = CASE WHEN m.paused THEN m.paused_at ELSE excluded.paused_at END
RETURNING queue, paused, paused_by, paused_at, enqueue_shards, description, max_running, rate_limit, rate_period_s
