-- Which rights this role lacks on the schema's tables and sequences.
-- moves: nothing
-- index: the catalogs'
-- bound: the tables of one schema
-- params: none
-- Partitions are reached by way of their table; only emptying one asks for a right on it.
SELECT current_user AS role,
       has_schema_privilege('awa', 'USAGE') AS usable,
       array_agg(c.relname::text ORDER BY c.relname) FILTER (
           WHERE NOT c.relispartition AND c.relname <> 'plan_secret' AND NOT has_table_privilege(c.oid, 'SELECT')) AS unread,
       array_agg(c.relname::text ORDER BY c.relname) FILTER (
           WHERE NOT c.relispartition AND c.relname NOT IN ('schema_objects', 'plan_secret')
             AND NOT (has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))) AS unwritten,
       array_agg(c.relname::text ORDER BY c.relname) FILTER (WHERE c.relispartition AND NOT has_table_privilege(c.oid, 'TRUNCATE')) AS unemptied,
       (SELECT bool_and(has_sequence_privilege(s.oid, 'USAGE')) FROM pg_class s
         WHERE s.relnamespace = 'awa'::regnamespace AND s.relkind = 'S') AS numbers
  FROM pg_class c WHERE c.relnamespace = 'awa'::regnamespace AND c.relkind IN ('r', 'p')
