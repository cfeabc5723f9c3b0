-- The operation that was submitted under this key, and whether it asks for the same.
-- moves: nothing
-- index: batch_operations (idempotency_key)
-- bound: one row
-- params: idempotency_key, op_kind, filter, spec
SELECT id, op_kind = %(op_kind)s AND filter = %(filter)s::jsonb AND spec = %(spec)s::jsonb AS same
  FROM awa.batch_operations
 WHERE idempotency_key = %(idempotency_key)s
