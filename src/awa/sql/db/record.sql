-- Notes that a migration, or all functions and views (`definitions`), was applied.
-- moves: nothing
-- index: schema_migrations primary key
-- bound: one row
-- params: name, checksum
INSERT INTO awa.schema_migrations (name, checksum) VALUES (%(name)s, %(checksum)s)
ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, applied_at = clock_timestamp()
