-- A page of jobs, newest first. {predicate} is a compiled filter over alias j.
-- moves: nothing
-- index: by id, or as the filter allows
-- bound: max_rows
-- params: before_id (null: from the newest), max_rows, and those of the filter
SELECT j.id, j.kind, j.queue, j.state, j.priority, j.attempt, j.max_attempts, j.args, j.tags, j.metadata, j.errors, j.run_at,
       j.created_at, j.ready_at, j.attempted_at, j.finalized_at, j.deadline_at, j.runtime_id, j.enqueue_shard, j.progress
  FROM awa.jobs j
 WHERE j.id < coalesce(%(before_id)s::bigint, 9223372036854775807) AND {predicate}
 ORDER BY j.id DESC LIMIT %(max_rows)s
