-- Adds one job in a transaction of its own, and wakes a worker after its commit.
-- moves: nothing -> available | scheduled
-- index: see functions/103_enqueue_and_wake.sql
-- bound: one row
-- params: as awa.enqueue
CALL awa.enqueue_and_wake(%(kind)s, %(args)s::json, %(queue)s, %(priority)s, %(run_at)s, %(max_attempts)s, %(tags)s::text[],
                          %(metadata)s::jsonb, %(ordering_key)s)
