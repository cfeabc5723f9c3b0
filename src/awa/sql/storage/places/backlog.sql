-- Jobs that wait in a lane, when they are few: read from the lanes' cursors on, without the history behind them.
-- {predicate} is a compiled filter over alias j.
-- moves: nothing
-- index: that of awa.waiting_jobs
-- bound: backlog_max
-- The limit inside keeps the planner at the lanes' cursors: a condition on id leads it to the index by id, which knows
-- nothing of them, and without a limit it may read the history whole.
-- params: before_id (null: from the newest), max_rows, backlog_max, and those of the filter
(SELECT j.id, j.kind, j.queue, j.state, j.priority, j.attempt, j.max_attempts, j.args, j.tags, j.metadata, j.errors, j.run_at,
        j.created_at, j.ready_at, j.attempted_at, j.finalized_at, j.deadline_at, j.runtime_id, j.enqueue_shard, j.progress
   FROM (SELECT * FROM awa.waiting_jobs w WHERE w.lane_id IS NOT NULL LIMIT %(backlog_max)s) j
  WHERE j.id < coalesce(%(before_id)s::bigint, 9223372036854775807) AND {predicate}
  ORDER BY j.id DESC LIMIT %(max_rows)s)
