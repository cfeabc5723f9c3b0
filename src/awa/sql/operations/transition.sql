-- Moves an operation along one arrow and records who, when and why.
-- moves: from_state -> to_state, whichever the caller has checked against the table of moves
-- index: batch_operations primary key
-- bound: two rows
-- params: id, from_state, to_state, actor (null: session_user), reason, error (null: last_error stays), runner (null: stays),
--         final (sets finalized_at and retention_until), retention_s, now (null: the clock)
-- It waits for the disk, whatever the chunk before it in this transaction said: the log is in order, so an operation that
-- is seen to have ended is on the disk with all its chunks.
-- A pause keeps where it came from and how long its pace still makes it wait: nobody gets past a limit by pausing.
WITH moved AS (
    UPDATE awa.batch_operations o
       SET state = %(to_state)s,
           last_error = coalesce(%(error)s::text, o.last_error),
           runner_instance = coalesce(%(runner)s::uuid, o.runner_instance),
           finalized_at = CASE WHEN %(final)s THEN m.at END,
           retention_until = CASE WHEN %(final)s THEN m.at + make_interval(secs => %(retention_s)s::float8) END,
           wait_until = NULL,
           paused_from = CASE WHEN m.pauses THEN %(from_state)s END,
           paused_by = CASE WHEN m.pauses THEN m.actor END,
           paused_at = CASE WHEN m.pauses THEN m.at END,
           paused_reason = CASE WHEN m.pauses THEN %(reason)s::text END,
           updated_at = m.at
      FROM (SELECT coalesce(%(now)s::timestamptz, clock_timestamp()) AS at,
                   coalesce(%(actor)s::text, session_user) AS actor,
                   %(to_state)s = 'paused' AS pauses,
                   set_config('synchronous_commit', NULL, true) OFFSET 0) m
     WHERE o.id = %(id)s AND o.state = %(from_state)s
    RETURNING o.*
), noted AS (
    INSERT INTO awa.batch_operation_events (operation_id, at, actor, from_state, to_state, reason)
    SELECT id, updated_at, coalesce(%(actor)s::text, session_user), %(from_state)s, %(to_state)s, %(reason)s FROM moved
)
SELECT * FROM moved
