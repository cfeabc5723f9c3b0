-- Writes a schedule down as its program declares it.
-- moves: nothing
-- index: cron_jobs primary key
-- bound: one row
-- params: the columns of cron_jobs; next_fire_at: the first tick from now on
-- A schedule whose times are unchanged keeps its next tick, which may have been missed meanwhile; pause and history stay.
-- One that comes back after it was retired begins anew: its time away is not made up for.
INSERT INTO awa.cron_jobs AS c
       (name, app, cron_expr, timezone, missed, kind, queue, priority, max_attempts, args, tags, metadata, ordering_key, concurrency_key,
        concurrency_limit, unique_opts, next_fire_at)
VALUES (%(name)s, %(app)s, %(cron_expr)s, %(timezone)s, %(missed)s, %(kind)s, %(queue)s, %(priority)s, %(max_attempts)s,
        %(args)s::json, %(tags)s::text[], %(metadata)s::jsonb, %(ordering_key)s, %(concurrency_key)s,
        %(concurrency_limit)s, %(unique_opts)s::jsonb, %(next_fire_at)s)
ON CONFLICT (name) DO UPDATE
   SET app = excluded.app, cron_expr = excluded.cron_expr, timezone = excluded.timezone, missed = excluded.missed,
       kind = excluded.kind, queue = excluded.queue, priority = excluded.priority, max_attempts = excluded.max_attempts,
       args = excluded.args, tags = excluded.tags, metadata = excluded.metadata, ordering_key = excluded.ordering_key,
       concurrency_key = excluded.concurrency_key, concurrency_limit = excluded.concurrency_limit,
       unique_opts = excluded.unique_opts,
       declared_at = clock_timestamp(), last_error = NULL,
       next_fire_at = CASE WHEN (c.cron_expr, c.timezone) = (excluded.cron_expr, excluded.timezone) AND c.retired_at IS NULL
                                AND c.next_fire_at IS NOT NULL
                           THEN c.next_fire_at ELSE excluded.next_fire_at END
