-- What the schema is made of now: each table, index, constraint, view, function and trigger with a digest of its definition.
-- moves: nothing
-- index: the catalogs'
-- bound: the objects of one schema
-- Other versions of the server print definitions differently: compare digests only where `server` is the same.
CREATE OR REPLACE FUNCTION awa.present_objects() RETURNS TABLE (kind text, name text, digest text, server int)
LANGUAGE sql VOLATILE AS $$
    SELECT o.kind, o.name, md5(o.definition), current_setting('server_version_num')::int / 10000
      FROM (SELECT 'table' AS kind, c.relname::text AS name,
                   (SELECT string_agg(format('%s %s %s', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull), ', ' ORDER BY a.attname)
                      FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS definition
              FROM pg_class c WHERE c.relnamespace = 'awa'::regnamespace AND c.relkind IN ('r', 'p')
            UNION ALL
            SELECT 'index', c.relname::text, pg_get_indexdef(c.oid) || i.indisvalid::text
              FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
             WHERE c.relnamespace = 'awa'::regnamespace AND c.relkind IN ('i', 'I')
            UNION ALL
            SELECT 'constraint', t.relname || '.' || k.conname, pg_get_constraintdef(k.oid)
              FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid WHERE t.relnamespace = 'awa'::regnamespace
            UNION ALL
            SELECT 'view', c.relname::text, pg_get_viewdef(c.oid)
              FROM pg_class c WHERE c.relnamespace = 'awa'::regnamespace AND c.relkind = 'v'
            UNION ALL
            SELECT 'function', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
                   p.prosrc || p.provolatile::text || coalesce(p.proconfig::text, '') || coalesce(pg_get_function_result(p.oid), '')
              FROM pg_proc p WHERE p.pronamespace = 'awa'::regnamespace
            UNION ALL
            SELECT 'trigger', t.relname || '.' || g.tgname, pg_get_triggerdef(g.oid)
              FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid
             WHERE t.relnamespace = 'awa'::regnamespace AND NOT g.tgisinternal) o;
$$;
