-- Jobs that run: few, and anywhere among the others. {predicate} is a compiled filter over alias j.
-- moves: nothing
-- index: as awa.open_attempts, then ready_entries (job_id)
-- bound: the open attempts of all runtimes
-- params: before_id (null: from the newest), max_rows, and those of the filter
(SELECT j.* FROM awa.lane_places j
  WHERE j.id = ANY (ARRAY(
            SELECT r.job_id
              FROM awa.runtimes t
             CROSS JOIN LATERAL awa.open_attempts(t.id, t.open_since - interval '1 second') o
             CROSS JOIN LATERAL (SELECT e.job_id FROM awa.ready_entries e
                                  WHERE e.lane_id = o.lane_id AND e.lane_seq = o.lane_seq OFFSET 0) r
             WHERE NOT t.settled AND r.job_id < coalesce(%(before_id)s::bigint, 9223372036854775807)))
    AND {predicate}
  ORDER BY j.id DESC LIMIT %(max_rows)s)
