-- Drops the schema that was set aside.
-- moves: nothing
-- index: none
-- bound: the tables of one schema
DROP SCHEMA awa_canonical CASCADE
