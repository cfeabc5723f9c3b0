-- Records the undo of an operation and its first event; nothing is changed yet, the leader's runner finds it.
-- moves: nothing -> pending
-- index: batch_operations (idempotency_key)
-- bound: two rows
-- params: those of awa:operations/submit, and undo_of. The caller holds that operation and has looked at its undos since.
WITH submitted AS (
    INSERT INTO awa.batch_operations
           (op_kind, filter, spec, submitted_by, reason, priority, max_rows_per_second, idempotency_key,
            not_before, max_jobs, undo_of)
    VALUES (%(op_kind)s, %(filter)s, %(spec)s, coalesce(%(actor)s::text, session_user), %(reason)s, %(priority)s,
            %(max_rows_per_second)s, %(idempotency_key)s, %(not_before)s, %(max_jobs)s, %(undo_of)s)
    ON CONFLICT (idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id, submitted_by, reason
), noted AS (
    INSERT INTO awa.batch_operation_events (operation_id, actor, to_state, reason)
    SELECT id, submitted_by, 'pending', reason FROM submitted
)
SELECT id FROM submitted
