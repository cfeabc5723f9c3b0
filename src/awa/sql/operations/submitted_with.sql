-- The operation that was submitted with an idempotency key.
-- moves: nothing
-- index: batch_operations (idempotency_key)
-- bound: one row
-- params: idempotency_key
SELECT id FROM awa.batch_operations WHERE idempotency_key = %(idempotency_key)s
