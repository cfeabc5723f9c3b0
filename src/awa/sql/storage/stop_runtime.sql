-- Writes down that a runtime ended of its own will.
-- moves: nothing
-- index: runtimes primary key
-- bound: one row
-- params: id
UPDATE awa.runtimes SET state = 'stopped', ended_at = clock_timestamp() WHERE id = %(id)s AND state = 'alive'
RETURNING id
