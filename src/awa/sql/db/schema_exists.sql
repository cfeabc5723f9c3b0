-- Is there an awa schema with a record of migrations?
-- moves: nothing
-- index: none
-- bound: constant
SELECT to_regclass('awa.schema_migrations') IS NOT NULL AS found
