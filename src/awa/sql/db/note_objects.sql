-- Writes down what the schema is made of, once it has been migrated.
-- moves: nothing
-- index: none
-- bound: the objects of one schema
-- params: none
WITH gone AS (
    DELETE FROM awa.schema_objects o WHERE (o.kind, o.name) NOT IN (SELECT p.kind, p.name FROM awa.present_objects() p)
)
INSERT INTO awa.schema_objects (kind, name, digest, server) SELECT * FROM awa.present_objects()
ON CONFLICT (kind, name) DO UPDATE SET digest = excluded.digest, server = excluded.server
