-- Which jobs are in this queue and have this priority already: their items will be noop.
-- params: to_queue and to_priority (null: unchanged)
j.queue = coalesce(%(to_queue)s::text, j.queue) AND j.priority = coalesce(%(to_priority)s::int, j.priority)
