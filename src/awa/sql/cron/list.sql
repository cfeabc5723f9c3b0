-- A page of schedules by name, with what became of the last job of each.
-- moves: nothing
-- index: cron_jobs primary key; one look-up a job
-- bound: max_rows
-- params: name (null: all), after (null: from the first), retired (also those that no program declares any more), max_rows
SELECT c.name, c.app, c.cron_expr, c.timezone, c.missed, c.kind, c.queue, c.priority, c.max_attempts, c.args, c.tags, c.metadata,
       c.ordering_key, c.concurrency_key, c.concurrency_limit, c.unique_opts, c.next_fire_at, c.last_tick_at, c.fired_at, c.fired_count, c.skipped_count, c.last_job_id, j.state AS last_job_state,
       c.last_error, c.paused_at, c.paused_by, c.retired_at, c.declared_at, c.created_at,
       clock_timestamp() AS now
  FROM awa.cron_jobs c
  LEFT JOIN LATERAL (SELECT f.state FROM awa.find_job(c.last_job_id) f) j ON true
 WHERE (%(name)s::text IS NULL OR c.name = %(name)s)
   AND (%(after)s::text IS NULL OR c.name > %(after)s)
   AND (%(retired)s OR c.retired_at IS NULL)
 ORDER BY c.name LIMIT %(max_rows)s
