-- One operation with its totals by outcome and reason.
-- moves: nothing
-- index: batch_operations and batch_operation_totals primary keys
-- bound: one row and a row a reason
-- params: id
SELECT o.*, o.total_matched - o.processed - o.skipped - o.errored AS pending,
       coalesce((SELECT jsonb_object_agg(t.outcome, t.reasons)
                   FROM (SELECT outcome, jsonb_object_agg(reason, items) AS reasons
                           FROM awa.batch_operation_totals WHERE operation_id = o.id GROUP BY outcome) t),
                jsonb_build_object()) AS totals
  FROM awa.batch_operations o
 WHERE o.id = %(id)s
