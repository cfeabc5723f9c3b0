-- What is to follow a job that the leader failed, because its last worker died or let a deadline pass. Only a program knows what that is (a
-- task's on_failed), so it stays owed until a worker that knows the kind has asked its task. A copy of the job: it may be tried again or deleted meanwhile.
CREATE TABLE awa.owed_follow_ups (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owed_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    job_id       bigint NOT NULL,
    kind         text NOT NULL,
    queue        text NOT NULL,
    priority     smallint NOT NULL,
    attempt      smallint NOT NULL,
    max_attempts smallint NOT NULL,
    args         json NOT NULL,
    tags         text[] NOT NULL,
    metadata     jsonb NOT NULL,
    errors       jsonb NOT NULL,
    progress     jsonb,
    run_at       timestamptz NOT NULL,
    created_at   timestamptz NOT NULL,
    attempted_at timestamptz,
    finalized_at timestamptz
);
CREATE INDEX ON awa.owed_follow_ups (kind, id);
CREATE INDEX ON awa.owed_follow_ups (owed_at);

-- The kinds whose tasks have an on_failed, as its program says; null: it says nothing.
ALTER TABLE awa.runtimes ADD COLUMN on_failed text[];
