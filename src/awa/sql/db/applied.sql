-- What was applied to this database: migrations by name, and `definitions` for all functions and views together.
-- moves: nothing
-- index: none
-- bound: a row a migration
SELECT name, checksum, applied_at FROM awa.schema_migrations ORDER BY name
