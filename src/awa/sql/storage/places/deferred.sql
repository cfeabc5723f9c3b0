-- Jobs that wait for a time, or are parked. {predicate} is a compiled filter over alias j.
-- moves: nothing
-- index: deferred_jobs primary key, backwards
-- bound: max_rows, and what the filter leaves out between them
-- params: before_id (null: from the newest), from_id (the least), max_rows, and those of the filter
(SELECT j.* FROM awa.deferred_places j
  WHERE j.id < coalesce(%(before_id)s::bigint, 9223372036854775807) AND j.id >= %(from_id)s::bigint AND {predicate}
  ORDER BY j.id DESC LIMIT %(max_rows)s)
