-- Sessions of browsers that were ended before their time. A session is a signed cookie that any server with the same secret believes; a
-- row here says to all of them that it doesn't count any more. The digest is that of the session's random id, so a row lets nobody in.
CREATE TABLE awa.ended_sessions (
    digest     bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    expires_at timestamptz NOT NULL
);
CREATE INDEX ON awa.ended_sessions (expires_at);
