-- How many of the jobs that ended otherwise than plainly completed match, by state; looks at the newest `looked_max` of them.
-- moves: nothing
-- index: finished_jobs primary key, or (queue, job_id), backwards
-- bound: looked_max rows
-- params: as reading/count_backlog
SELECT count(*) FILTER (WHERE j.state = 'failed' AND {rows}) AS failed,
       count(*) FILTER (WHERE j.state = 'cancelled' AND {rows}) AS cancelled, count(*) AS looked
  FROM (SELECT * FROM awa.finished_places j WHERE {places} ORDER BY j.id DESC LIMIT %(looked_max)s) j
