-- Writes down for which kinds a runtime's program wants something to follow a failure.
-- moves: nothing
-- index: runtimes primary key
-- bound: one row
-- params: id, kinds
UPDATE awa.runtimes r SET on_failed = %(kinds)s::text[] WHERE r.id = %(id)s AND r.on_failed IS DISTINCT FROM %(kinds)s::text[]
