-- Makes the schema and the record of what was applied, and takes the lock that lets one migration run at a time.
-- moves: nothing
-- index: none
-- bound: constant; waits for another migration of this database to end
CREATE SCHEMA IF NOT EXISTS awa;
CREATE TABLE IF NOT EXISTS awa.schema_migrations (
    name       text PRIMARY KEY,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
LOCK TABLE awa.schema_migrations IN SHARE ROW EXCLUSIVE MODE;
