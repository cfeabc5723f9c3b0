-- Lets operations go on, and records who and why; no row comes back if nobody holds them.
-- moves: nothing
-- index: batch_operation_holds (released_at IS NULL)
-- bound: one row
-- params: actor (null: session_user), reason
UPDATE awa.batch_operation_holds
   SET released_at = clock_timestamp(),
       released_by = coalesce(%(actor)s::text, session_user),
       released_reason = %(reason)s
 WHERE released_at IS NULL
RETURNING held_at, held_by, reason, released_at, released_by, released_reason
