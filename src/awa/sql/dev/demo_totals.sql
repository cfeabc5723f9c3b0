-- What became of all jobs, read from the jobs themselves.
-- moves: nothing
-- index: that of awa.jobs
-- bound: all jobs stored
-- params: none
SELECT count(*) AS jobs,
       count(*) FILTER (WHERE j.state = 'completed') AS completed,
       count(*) FILTER (WHERE j.state = 'failed') AS failed,
       count(*) FILTER (WHERE j.state NOT IN ('completed', 'failed')) AS elsewhere,
       coalesce(sum(j.attempt), 0)::bigint AS attempts,
       count(*) FILTER (WHERE j.metadata ? '_awa_original_queue') AS stamped_queue,
       count(*) FILTER (WHERE j.metadata ? '_awa_original_priority') AS stamped_priority,
       coalesce(sum(e.rescued), 0)::bigint AS rescued
  FROM awa.jobs j
  LEFT JOIN LATERAL (SELECT count(*) FILTER (WHERE x ->> 'kind' = 'RuntimeLost') AS rescued
                       FROM jsonb_array_elements(j.errors) x) e ON j.errors <> '[]'
