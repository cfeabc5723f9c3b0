-- Says whether a session was ended before its time, here or at another server.
-- moves: nothing
-- index: ended_sessions primary key
-- bound: one row
-- params: digest (of the session's id)
SELECT EXISTS (SELECT FROM awa.ended_sessions s WHERE s.digest = %(digest)s) AS ended
