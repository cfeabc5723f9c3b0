-- How many of the running jobs match; looks at `looked_max` of them.
-- moves: nothing
-- index: as awa.open_attempts, then ready_entries (lane_id, lane_seq)
-- bound: looked_max rows, and the claims that the runtimes alive may still hold
-- params: as reading/count_backlog
SELECT count(*) FILTER (WHERE {rows}) AS jobs, count(*) AS looked
  FROM (SELECT * FROM awa.running_jobs j WHERE {places} LIMIT %(looked_max)s) j
