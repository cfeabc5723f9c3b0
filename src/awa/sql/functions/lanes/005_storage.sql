-- Which of the two storages this schema has. No program decides anything by it; people and awa migrate ask.
-- moves: nothing
-- index: none
-- bound: constant
CREATE OR REPLACE FUNCTION awa.storage() RETURNS text
LANGUAGE sql IMMUTABLE AS $$ SELECT 'lanes'::text $$;
