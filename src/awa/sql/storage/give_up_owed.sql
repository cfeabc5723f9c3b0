-- Forgets follow-ups that are owed for too long: nobody who knew their kind came by.
-- moves: deletes rows of awa.owed_follow_ups
-- index: owed_follow_ups (owed_at)
-- bound: limit rows
-- params: keep_s, limit, now (null: the clock)
DELETE FROM awa.owed_follow_ups o
 USING (SELECT k.id FROM awa.owed_follow_ups k
         WHERE k.owed_at < coalesce(%(now)s::timestamptz, now()) - make_interval(secs => %(keep_s)s)
         ORDER BY k.owed_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED) old
 WHERE o.id = old.id
