-- Forgets ended sessions whose cookies are too old by now.
-- moves: deletes rows of awa.ended_sessions
-- index: ended_sessions (expires_at)
-- bound: limit rows
-- params: limit, now (null: the clock)
DELETE FROM awa.ended_sessions s
 USING (SELECT k.digest FROM awa.ended_sessions k
         WHERE k.expires_at < coalesce(%(now)s::timestamptz, now())
         ORDER BY k.expires_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED) old
 WHERE s.digest = old.digest
