-- Deletes callbacks that were answered, or timed out, long ago.
-- moves: nothing
-- index: callbacks (resolved_at)
-- bound: max_rows, the oldest first
-- params: keep_s, max_rows, now (null: the database's clock)
DELETE FROM awa.callbacks c
 WHERE c.callback_id IN (SELECT k.callback_id FROM awa.callbacks k
                          WHERE k.resolved_at < coalesce(%(now)s::timestamptz, now()) - make_interval(secs => %(keep_s)s::float8)
                          ORDER BY k.resolved_at LIMIT %(max_rows)s FOR UPDATE SKIP LOCKED)
