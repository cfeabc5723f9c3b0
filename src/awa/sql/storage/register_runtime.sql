-- Writes down a program that begins to claim jobs or to keep house.
-- moves: nothing
-- index: runtimes primary key
-- bound: one row
-- params: id, host, pid, version, roles, queues (a JSON object: queue -> most jobs at once)
INSERT INTO awa.runtimes (id, host, pid, version, roles, queues)
VALUES (%(id)s, %(host)s, %(pid)s, %(version)s, %(roles)s::text[], %(queues)s::jsonb)
RETURNING started_at AS db_now
