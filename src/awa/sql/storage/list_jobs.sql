-- A page of jobs, newest first. {predicate} is a compiled filter over alias j.
-- moves: nothing
-- index: by id in each place, or as the filter allows
-- bound: max_rows
-- params: before_id (null: from the newest), max_rows, and those of the filter
-- A page of each place, then the page of these: each is read backwards by its own index, no place is read whole.
WITH lanes AS (
    SELECT j.* FROM awa.lane_places j
     WHERE j.id < coalesce(%(before_id)s::bigint, 9223372036854775807) AND {predicate}
     ORDER BY j.id DESC LIMIT %(max_rows)s
), deferred AS (
    SELECT j.* FROM awa.deferred_places j
     WHERE j.id < coalesce(%(before_id)s::bigint, 9223372036854775807) AND {predicate}
     ORDER BY j.id DESC LIMIT %(max_rows)s
), finished AS (
    SELECT j.* FROM awa.finished_places j
     WHERE j.id < coalesce(%(before_id)s::bigint, 9223372036854775807) AND {predicate}
     ORDER BY j.id DESC LIMIT %(max_rows)s
)
SELECT k.id, k.kind, k.queue, k.state, k.priority, k.attempt, k.max_attempts, k.args, k.tags, k.metadata, k.errors, k.run_at,
       k.created_at, k.ready_at, k.attempted_at, k.finalized_at, k.deadline_at, k.runtime_id, k.enqueue_shard, k.progress
  FROM (SELECT * FROM lanes UNION ALL SELECT * FROM deferred UNION ALL SELECT * FROM finished) k
 ORDER BY k.id DESC LIMIT %(max_rows)s
