-- What both storages have: queues, lanes, positions, jobs that wait for a time or are over, and who works on them.
-- Docs: docs/explain/engine.md and docs/explain/storages.md; the journeys: ARCHITECTURE.md.

-- How an attempt ended. recorded: completed, and awa.finished_jobs holds the row because the handler left
-- metadata; a plain completed job needs no row.
CREATE TYPE awa.attempt_outcome AS ENUM
    ('completed', 'recorded', 'retried', 'failed', 'cancelled', 'snoozed', 'returned');

-- What operators say about a queue. A queue exists when it has a row here or a job anywhere.
CREATE TABLE awa.queue_meta (
    queue          text PRIMARY KEY CHECK (length(queue) BETWEEN 1 AND 200),
    paused         boolean NOT NULL DEFAULT false,
    paused_by      text,
    paused_at      timestamptz,
    enqueue_shards smallint NOT NULL DEFAULT 1 CHECK (enqueue_shards BETWEEN 1 AND 64),
    description    text,
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A lane is a dispatch line. `copy` is 0 but for lanes whose twin was being created by a transaction that
-- stayed open: nobody waits for it, a second lane with the same meaning does as well.
CREATE TABLE awa.lanes (
    lane_id            int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue              text NOT NULL CHECK (length(queue) BETWEEN 1 AND 200),
    priority           smallint NOT NULL CHECK (priority BETWEEN 1 AND 4),
    enqueue_shard      smallint NOT NULL DEFAULT 0,
    copy               smallint NOT NULL DEFAULT 0,
    effective_priority smallint NOT NULL CHECK (effective_priority BETWEEN 1 AND 4),
    UNIQUE (queue, priority, enqueue_shard, copy)
);

-- Every position ever handed out, over all lanes. CACHE 1: a cached position would be drawn by a
-- transaction that has no id yet.
CREATE SEQUENCE awa.job_positions AS bigint CACHE 1;

-- One row. trusted_from: positions below it come from before a restore into another cluster, their txid
-- means nothing and counts as visible.
CREATE TABLE awa.ring (
    one               boolean PRIMARY KEY DEFAULT true CHECK (one),
    current_slot      smallint NOT NULL DEFAULT 0,
    slots             smallint NOT NULL DEFAULT 8,
    opened_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    trusted_from      bigint NOT NULL DEFAULT 0,
    system_identifier bigint NOT NULL,
    last_txid         xid8 NOT NULL
);

-- Attempts that need a row of their own: they run longer than a few seconds, or report progress.
CREATE TABLE awa.attempts (
    lane_seq    bigint PRIMARY KEY,
    claim_no    bigint NOT NULL,
    job_id      bigint NOT NULL,
    runtime_id  uuid NOT NULL,
    lane_id     int NOT NULL,
    claimed_at  timestamptz NOT NULL,
    progress    jsonb,
    metadata    jsonb,
    updated_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ON awa.attempts (runtime_id);
CREATE INDEX ON awa.attempts (job_id);

-- Waiting for a time: scheduled (first or snoozed) and retryable (after a failed attempt).
CREATE TABLE awa.deferred_jobs (
    job_id       bigint PRIMARY KEY,
    created_at   timestamptz NOT NULL,
    run_at       timestamptz NOT NULL,
    deferred_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    priority     smallint NOT NULL CHECK (priority BETWEEN 1 AND 4),
    attempt      smallint NOT NULL DEFAULT 0,
    max_attempts smallint NOT NULL DEFAULT 25,
    route_shard  smallint,
    state        text NOT NULL CHECK (state IN ('scheduled', 'retryable')),
    queue        text NOT NULL CHECK (length(queue) BETWEEN 1 AND 200),
    kind         text NOT NULL,
    args         json NOT NULL,
    tags         text[],
    metadata     jsonb,
    errors       jsonb,
    unique_key   bytea,
    route_key    bytea
);
CREATE INDEX ON awa.deferred_jobs (run_at, job_id);
CREATE INDEX ON awa.deferred_jobs (queue, job_id);

-- Failed and cancelled jobs, and completed ones with metadata of their handler.
CREATE TABLE awa.finished_jobs (
    job_id       bigint PRIMARY KEY,
    created_at   timestamptz NOT NULL,
    run_at       timestamptz,
    attempted_at timestamptz,
    finalized_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    priority     smallint NOT NULL,
    attempt      smallint NOT NULL,
    max_attempts smallint NOT NULL,
    route_shard  smallint,
    state        text NOT NULL CHECK (state IN ('completed', 'failed', 'cancelled')),
    queue        text NOT NULL,
    kind         text NOT NULL,
    args         json NOT NULL,
    tags         text[],
    metadata     jsonb,
    errors       jsonb,
    unique_key   bytea,
    route_key    bytea
);
CREATE INDEX ON awa.finished_jobs (finalized_at);
CREATE INDEX ON awa.finished_jobs (queue, job_id);

-- Programs that claim jobs or keep house. open_since: what this runtime claimed before it is closed or has
-- a row in awa.attempts, so a rescue looks no further back. settled: it ended and nothing of it can still be open.
CREATE TABLE awa.runtimes (
    id           uuid PRIMARY KEY,
    state        text NOT NULL DEFAULT 'alive' CHECK (state IN ('alive', 'stopped', 'dead')),
    host         text NOT NULL,
    pid          int NOT NULL,
    version      text NOT NULL,
    roles        text[] NOT NULL,
    queues       jsonb NOT NULL DEFAULT '{}',
    started_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    heartbeat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    open_since   timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at     timestamptz,
    settled      boolean NOT NULL DEFAULT false
) WITH (fillfactor = 70);

CREATE TABLE awa.leases (
    name        text PRIMARY KEY,
    holder      uuid NOT NULL,
    acquired_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at  timestamptz NOT NULL,
    fence       bigint NOT NULL DEFAULT 1
) WITH (fillfactor = 50);

-- What a claim hands to a worker.
CREATE TYPE awa.claimed_job AS (
    job_id       bigint,
    lane_id      int,
    claim_no     bigint,
    lane_seq     bigint,
    queue        text,
    priority     smallint,
    kind         text,
    args         json,
    attempt      smallint,
    max_attempts smallint,
    tags         text[],
    metadata     jsonb,
    errors       jsonb,
    run_at       timestamptz,
    created_at   timestamptz,
    ready_at     timestamptz,
    claimed_at   timestamptz,
    deadline_at  timestamptz
);
