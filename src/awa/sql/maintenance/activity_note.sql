-- Writes the notes of an interval down.
-- moves: nothing
-- index: activity primary key
-- bound: the notes
-- params: at, seconds, notes (a JSON list of objects with the other columns)
INSERT INTO awa.activity (at, scope, name, seconds, arrived, started, completed, failed, retried, cancelled, other, pickup, run)
SELECT %(at)s, n.scope, n.name, %(seconds)s, n.arrived, n.started, n.completed, n.failed, n.retried, n.cancelled, n.other, n.pickup, n.run
  FROM jsonb_to_recordset(%(notes)s::jsonb) n(
       scope text, name text, arrived bigint, started bigint, completed bigint, failed bigint, retried bigint, cancelled bigint,
       other bigint, pickup bigint[], run bigint[])
ON CONFLICT (scope, at, name) DO NOTHING
