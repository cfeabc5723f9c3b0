-- Fixes what the scan may see: the greatest job id, and the snapshot that tells what came afterwards.
-- moves: nothing (awa:operations/transition has moved it to scanning in this transaction)
-- index: batch_operations primary key
-- bound: one row
-- params: id, phase, now (null: the clock)
UPDATE awa.batch_operations o
   SET started_at = coalesce(%(now)s::timestamptz, clock_timestamp()),
       scan_bound = (SELECT p.last_value FROM awa.job_positions p),
       total_matched = 0,
       cursor = jsonb_build_object('phase', %(phase)s::text, 'seen', pg_current_snapshot()::text)
 WHERE o.id = %(id)s
RETURNING o.*
