-- Durable bulk changes (ADR-030): the operation, the jobs it was frozen to, totals by reason, what happened when.

CREATE TABLE awa.batch_operations (
    id                  uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    op_kind             text NOT NULL,
    filter              jsonb NOT NULL,
    spec                jsonb NOT NULL,
    state               text NOT NULL DEFAULT 'pending' CHECK (state IN
        ('pending', 'scanning', 'running', 'cancelling', 'completed', 'cancelled', 'failed')),
    submitted_by        text,
    submitted_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at          timestamptz,
    finalized_at        timestamptz,
    cursor              jsonb,
    total_matched       bigint,
    processed           bigint NOT NULL DEFAULT 0,
    skipped             bigint NOT NULL DEFAULT 0,
    errored             bigint NOT NULL DEFAULT 0,
    last_error          text,
    runner_instance     uuid,
    retention_until     timestamptz,
    updated_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Beyond ADR-030. scan_bound: jobs with a greater id are not looked at; wait_until: not served before.
    reason              text,
    priority            smallint NOT NULL DEFAULT 2 CHECK (priority BETWEEN 1 AND 4),
    max_rows_per_second int CHECK (max_rows_per_second > 0),
    scan_bound          bigint,
    idempotency_key     text,
    wait_until          timestamptz,
    -- How long its chunks took, at most 60 points: see awa.note_chunk.
    chunks              int[]
) WITH (fillfactor = 50);

CREATE INDEX ON awa.batch_operations (priority, submitted_at, id)
    WHERE state IN ('pending', 'scanning', 'running', 'cancelling');
CREATE INDEX ON awa.batch_operations (submitted_at DESC, id DESC);
CREATE INDEX ON awa.batch_operations (retention_until) WHERE retention_until IS NOT NULL;
CREATE UNIQUE INDEX ON awa.batch_operations (idempotency_key) WHERE idempotency_key IS NOT NULL;

-- lane_id, lane_seq, slot: where the scan saw the job, a hint only. No other index than the key: a chunk goes
-- by key, and its updates stay on their pages.
CREATE TABLE awa.batch_operation_items (
    operation_id uuid NOT NULL REFERENCES awa.batch_operations (id) ON DELETE CASCADE,
    job_id       bigint NOT NULL,
    state        text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'processed', 'skipped', 'errored')),
    error        text,
    processed_at timestamptz,
    reason       text,
    lane_id      int,
    lane_seq     bigint,
    slot         smallint,
    before       jsonb,
    PRIMARY KEY (operation_id, job_id)
) WITH (fillfactor = 40);

CREATE TABLE awa.batch_operation_totals (
    operation_id uuid NOT NULL REFERENCES awa.batch_operations (id) ON DELETE CASCADE,
    outcome      text NOT NULL,
    reason       text NOT NULL,
    items        bigint NOT NULL,
    PRIMARY KEY (operation_id, outcome, reason)
) WITH (fillfactor = 50);

CREATE TABLE awa.batch_operation_events (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    operation_id uuid NOT NULL REFERENCES awa.batch_operations (id) ON DELETE CASCADE,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor        text NOT NULL,
    from_state   text,
    to_state     text NOT NULL,
    reason       text
);
CREATE INDEX ON awa.batch_operation_events (operation_id, id);
