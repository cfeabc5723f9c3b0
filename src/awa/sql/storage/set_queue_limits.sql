-- How many jobs of a queue may run at once, and how many may be begun within a period; null takes a limit away.
-- moves: nothing
-- index: queue_meta primary key
-- bound: one row
-- params: queue, set_max_running and set_rate (false: leave as it is), max_running, rate_limit, rate_period_s
-- Counts from the next claim on. Workers that sleep are woken: there may be more room now.
WITH told AS (
    INSERT INTO awa.queue_meta AS m (queue, max_running, rate_limit, rate_period_s)
    VALUES (%(queue)s, %(max_running)s::int, %(rate_limit)s::int, %(rate_period_s)s::float8)
    ON CONFLICT (queue) DO UPDATE
       SET max_running = CASE WHEN %(set_max_running)s::boolean THEN excluded.max_running ELSE m.max_running END,
           rate_limit = CASE WHEN %(set_rate)s::boolean THEN excluded.rate_limit ELSE m.rate_limit END,
           rate_period_s = CASE WHEN %(set_rate)s::boolean THEN excluded.rate_period_s ELSE m.rate_period_s END
    RETURNING queue, paused, paused_by, paused_at, enqueue_shards, description, max_running, rate_limit, rate_period_s
)
SELECT t.*, awa.notify_if_idle(t.queue) IS NULL AS woken FROM told t
