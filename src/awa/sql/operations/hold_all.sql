-- Holds all operations, and records who and why; no row comes back if they are held already.
-- moves: nothing
-- index: batch_operation_holds (released_at IS NULL)
-- bound: one row
-- params: actor (null: session_user), reason
INSERT INTO awa.batch_operation_holds (held_by, reason)
VALUES (coalesce(%(actor)s::text, session_user), %(reason)s)
ON CONFLICT ((released_at IS NULL)) WHERE released_at IS NULL DO NOTHING
RETURNING held_at, held_by, reason
