-- Writes down that a session has ended, until its cookie would be too old anyway.
-- moves: nothing
-- index: ended_sessions primary key
-- bound: one row
-- params: digest (of the session's id), keep_s
INSERT INTO awa.ended_sessions (digest, expires_at)
VALUES (%(digest)s, clock_timestamp() + make_interval(secs => %(keep_s)s))
ON CONFLICT (digest) DO NOTHING
