-- Writes down a program that begins to claim jobs or to keep house.
-- moves: nothing
-- index: runtimes primary key
-- bound: one row
-- The lanes of its queues are made here, so that no enqueue has to make one in a transaction that may stay open.
-- params: id, host, pid, version, roles, queues (a JSON object: queue -> most jobs at once), app and the names of the schedules
--         that its program declares (null: it says nothing of schedules), kinds whose tasks have an on_failed (null: unsaid)
INSERT INTO awa.runtimes (id, host, pid, version, roles, queues, app, schedules, on_failed)
VALUES (%(id)s, %(host)s, %(pid)s, %(version)s, %(roles)s::text[], %(queues)s::jsonb, %(app)s, %(schedules)s::text[],
        %(on_failed)s::text[])
RETURNING started_at AS db_now,
          (SELECT count(awa.lane_for(q, 2)) FROM jsonb_object_keys(queues) q) AS lanes
