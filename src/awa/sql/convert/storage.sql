-- Which storage the schema has, and how much it holds.
-- moves: nothing
-- index: none
-- bound: one row; estimates, no table is read
SELECT awa.storage() AS storage,
       (SELECT max(m.applied_at) FROM awa.schema_migrations m) AS applied_at,
       (SELECT sum(b)::bigint FROM unnest(awa.slot_bytes()) b) AS bytes,
       (SELECT greatest(0, sum(c.reltuples))::bigint FROM pg_class c
         WHERE c.relnamespace = 'awa'::regnamespace AND c.relname ~ '^ready_entries(_\d+)?$' AND c.relkind = 'r') AS rows_about
