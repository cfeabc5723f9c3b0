-- Schedules: jobs that are enqueued again and again.

-- A program's schedules are those that it declares when it starts; the leader fires them. next_fire_at is a tick that has not
-- been fired: whoever moves it on in the transaction that enqueues the job has fired it, and nobody else can.
CREATE TABLE awa.cron_jobs (
    name         text PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    app          text NOT NULL,
    cron_expr    text NOT NULL,
    timezone     text NOT NULL,
    missed       text NOT NULL CHECK (missed IN ('coalesce', 'catch_up')),
    kind         text NOT NULL,
    queue        text NOT NULL,
    priority     smallint NOT NULL CHECK (priority BETWEEN 1 AND 4),
    max_attempts smallint NOT NULL,
    args         json NOT NULL,
    tags         text[],
    metadata     jsonb,
    ordering_key text,
    next_fire_at timestamptz,
    last_tick_at timestamptz,
    fired_at     timestamptz,
    fired_count  bigint NOT NULL DEFAULT 0,
    last_job_id  bigint,
    last_error   text,
    paused_at    timestamptz,
    paused_by    text,
    retired_at   timestamptz,
    declared_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ON awa.cron_jobs (next_fire_at) WHERE paused_at IS NULL AND retired_at IS NULL;

-- Which schedules the program of a runtime declares (null: it says nothing of schedules).
ALTER TABLE awa.runtimes ADD COLUMN app text, ADD COLUMN schedules text[];
