-- What of the schema is missing, changed or came from elsewhere since it was migrated.
-- moves: nothing
-- index: schema_objects primary key, the catalogs'
-- bound: 50 objects
-- params: none
SELECT coalesce(o.kind, p.kind) AS kind, coalesce(o.name, p.name) AS name,
       CASE WHEN p.name IS NULL THEN 'missing' WHEN o.name IS NULL THEN 'foreign' ELSE 'changed' END AS how
  FROM awa.schema_objects o
  FULL JOIN awa.present_objects() p ON p.kind = o.kind AND p.name = o.name
 WHERE p.name IS NULL OR o.name IS NULL OR (o.server = p.server AND o.digest <> p.digest)
 ORDER BY 3 DESC, 1, 2
 LIMIT 50
