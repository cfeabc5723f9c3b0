-- One operation with its totals by outcome and reason, and its undos.
-- moves: nothing
-- index: batch_operations and batch_operation_totals primary keys, batch_operations (undo_of)
-- bound: one row, a row a reason, and a row an undo
-- params: id
SELECT o.*, o.total_matched - o.processed - o.skipped - o.errored AS pending,
       coalesce((SELECT jsonb_object_agg(t.outcome, t.reasons)
                   FROM (SELECT outcome, jsonb_object_agg(reason, items) AS reasons
                           FROM awa.batch_operation_totals WHERE operation_id = o.id GROUP BY outcome) t),
                jsonb_build_object()) AS totals,
       coalesce((SELECT jsonb_agg(jsonb_build_object('id', u.id, 'state', u.state, 'total_matched', u.total_matched,
                                                     'processed', u.processed) ORDER BY u.submitted_at, u.id)
                   FROM awa.batch_operations u WHERE u.undo_of = o.id),
                jsonb_build_array()) AS undos
  FROM awa.batch_operations o
 WHERE o.id = %(id)s
