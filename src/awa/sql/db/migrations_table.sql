-- Makes the schema and the record of what was applied, and takes the lock that lets one migration run at a time.
-- moves: nothing
-- index: none
-- bound: constant; waits for another migration of this database to end
-- The lock comes first: even CREATE SCHEMA IF NOT EXISTS fails when two do it at once.
SELECT pg_advisory_xact_lock(4711, 0);
CREATE SCHEMA IF NOT EXISTS awa;
CREATE TABLE IF NOT EXISTS awa.schema_migrations (
    name       text PRIMARY KEY,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
