-- Which storage the schema has, and how much it holds.
-- moves: nothing
-- index: none
-- bound: one row; estimates, no table is read
-- rows_about is null where a table has rows that the server has not estimated yet.
SELECT awa.storage() AS storage,
       (SELECT max(m.applied_at) FROM awa.schema_migrations m) AS applied_at,
       (SELECT sum(b)::bigint FROM unnest(awa.slot_bytes()) b) AS bytes,
       (SELECT CASE WHEN bool_or(c.reltuples < 0 AND pg_relation_size(c.oid) > 0) THEN NULL
                    ELSE sum(greatest(0, c.reltuples))::bigint END FROM pg_class c
         WHERE c.relnamespace = 'awa'::regnamespace AND c.relname ~ '^ready_entries(_\d+)?$' AND c.relkind = 'r') AS rows_about
