-- Records an operation and its first event; nothing is changed yet, the leader's runner finds it.
-- moves: nothing -> pending
-- index: batch_operations (idempotency_key)
-- bound: two rows
-- params: op_kind, filter, spec, actor (null: the database's session_user), reason, priority, max_rows_per_second,
--         idempotency_key, not_before and max_jobs (null: none). No row comes back when the key was used before.
WITH submitted AS (
    INSERT INTO awa.batch_operations
           (op_kind, filter, spec, submitted_by, reason, priority, max_rows_per_second, idempotency_key,
            not_before, max_jobs)
    VALUES (%(op_kind)s, %(filter)s, %(spec)s, coalesce(%(actor)s::text, session_user), %(reason)s, %(priority)s,
            %(max_rows_per_second)s, %(idempotency_key)s, %(not_before)s, %(max_jobs)s)
    ON CONFLICT (idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id, submitted_by, reason
), noted AS (
    INSERT INTO awa.batch_operation_events (operation_id, actor, to_state, reason)
    SELECT id, submitted_by, 'pending', reason FROM submitted
)
SELECT id FROM submitted
