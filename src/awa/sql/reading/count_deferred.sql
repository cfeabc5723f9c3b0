-- How many of the jobs that wait for a time or a callback match, by state; looks at `looked_max` of them.
-- moves: nothing
-- index: deferred_jobs primary key, or (queue, job_id)
-- bound: looked_max rows
-- params: as reading/count_backlog
SELECT count(*) FILTER (WHERE j.state = 'scheduled' AND {rows}) AS scheduled,
       count(*) FILTER (WHERE j.state = 'retryable' AND {rows}) AS retryable,
       count(*) FILTER (WHERE j.state = 'waiting_external' AND {rows}) AS waiting_external, count(*) AS looked
  FROM (SELECT * FROM awa.deferred_places j WHERE {places} LIMIT %(looked_max)s) j
