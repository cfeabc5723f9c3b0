-- Over how many lanes a priority of this queue is spread from now on; jobs that wait keep their lane.
-- moves: nothing
-- index: queue_meta primary key
-- bound: one row
-- params: queue, shards
INSERT INTO awa.queue_meta (queue, enqueue_shards) VALUES (%(queue)s, %(shards)s)
ON CONFLICT (queue) DO UPDATE SET enqueue_shards = excluded.enqueue_shards
RETURNING queue, paused, paused_by, paused_at, enqueue_shards, description, max_running, rate_limit, rate_period_s
