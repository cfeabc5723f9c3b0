-- Adds what ended to the totals of its slot.
-- moves: nothing
-- index: activity_totals primary key
-- bound: the queues, kinds and outcomes that were seen
-- params: totals (a JSON list of objects with the columns)
INSERT INTO awa.activity_totals AS t (slot, scope, name, outcome, jobs)
SELECT n.slot, n.scope, n.name, n.outcome::awa.attempt_outcome, n.jobs
  FROM jsonb_to_recordset(%(totals)s::jsonb) n(slot smallint, scope text, name text, outcome text, jobs bigint)
ON CONFLICT (slot, scope, name, outcome) DO UPDATE SET jobs = t.jobs + excluded.jobs
