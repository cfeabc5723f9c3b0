-- Jobs that wait in a lane, when they are few enough to be read all: from the lanes' cursors on, without the history behind them.
-- {predicate} is a compiled filter over alias j, {places} what of it a lane alone can answer.
-- moves: nothing
-- index: that of awa.lane_backlog
-- bound: backlog_max rows are looked at
-- params: before_id (null: from the newest), from_id (the least), max_rows, backlog_max, and those of the filter
(SELECT j.id, j.kind, j.queue, j.state, j.priority, j.attempt, j.max_attempts, j.args, j.tags, j.metadata, j.errors, j.run_at,
        j.created_at, j.ready_at, j.attempted_at, j.finalized_at, j.deadline_at, j.runtime_id, j.enqueue_shard, j.progress
   FROM (SELECT * FROM awa.lane_backlog j WHERE {places} LIMIT %(backlog_max)s) j
  WHERE j.id < coalesce(%(before_id)s::bigint, 9223372036854775807) AND j.id >= %(from_id)s::bigint AND {predicate}
  ORDER BY j.id DESC LIMIT %(max_rows)s)
