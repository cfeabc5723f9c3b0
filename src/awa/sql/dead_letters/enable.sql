-- Says whether jobs of a queue that fail become dead letters.
-- moves: nothing
-- index: queue_meta primary key
-- bound: one row
-- params: queue, enabled
INSERT INTO awa.queue_meta AS m (queue, dlq_enabled) VALUES (%(queue)s, %(enabled)s)
ON CONFLICT (queue) DO UPDATE SET dlq_enabled = excluded.dlq_enabled
RETURNING m.queue, m.dlq_enabled
