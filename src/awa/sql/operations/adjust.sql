-- Gives an operation that goes on another rate or priority, and records what was changed, by whom and why.
-- moves: nothing
-- index: batch_operations primary key
-- bound: two rows
-- params: id, set_rate, max_rows_per_second (null: no limit), set_priority, priority, actor (null: session_user), reason
-- What waits for its pace waits less under a greater rate, at once. Under a smaller one it waits no longer than it had to:
-- what its last chunk took was allowed when it was taken. The caller holds the row, so `b` is what it is.
WITH b AS MATERIALIZED (
    SELECT o.id, o.state, o.max_rows_per_second AS rate, o.priority, o.paced_until, clock_timestamp() AS at,
           CASE WHEN %(set_rate)s THEN %(max_rows_per_second)s::int ELSE o.max_rows_per_second END AS new_rate,
           CASE WHEN %(set_priority)s THEN %(priority)s::smallint ELSE o.priority END AS new_priority
      FROM awa.batch_operations o
     WHERE o.id = %(id)s
), changes AS MATERIALIZED (
    SELECT CASE WHEN b.new_rate IS DISTINCT FROM b.rate
                THEN jsonb_build_object('max_rows_per_second', jsonb_build_array(b.rate, b.new_rate)) ELSE '{}' END
        || CASE WHEN b.new_priority <> b.priority
                THEN jsonb_build_object('priority', jsonb_build_array(b.priority, b.new_priority)) ELSE '{}' END AS made
      FROM b
), noted AS (
    INSERT INTO awa.batch_operation_events (operation_id, at, actor, from_state, to_state, reason, changes)
    SELECT b.id, b.at, coalesce(%(actor)s::text, session_user), b.state, b.state, %(reason)s, c.made
      FROM b, changes c
     WHERE c.made <> '{}'
)
UPDATE awa.batch_operations o
   SET max_rows_per_second = b.new_rate,
       priority = b.new_priority,
       paced_until = CASE WHEN b.new_rate IS NULL THEN NULL
                          WHEN b.new_rate > b.rate THEN b.at + (b.paced_until - b.at) * (b.rate::float8 / b.new_rate)
                          ELSE b.paced_until END,
       updated_at = b.at
  FROM b, changes c
 WHERE o.id = b.id AND c.made <> '{}'
RETURNING o.id
