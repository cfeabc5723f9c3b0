-- Callbacks: jobs that wait for an answer from outside. Docs: docs/guide/callbacks.md.

-- How an attempt ended, one word more: the handler waits for a callback. (The word can be used by the next transaction, which is
-- early enough for functions that read it when they run; no view and no function in plain SQL may name it.)
ALTER TYPE awa.attempt_outcome ADD VALUE IF NOT EXISTS 'waiting';

-- One row for each callback that a handler registered, found by an id that nobody can guess. It belongs to one attempt.
-- waiting_since: when the job left its lane to wait for it (null: the attempt runs, or ended in another way); resolution and what
-- came with it: the answer, there is one; applied_at: when the answer had its effect, led_to: the state that it brought the job
-- into (null: the handler took it). Who locks the row decides: the lock of a
-- callback comes after those of claims and before that of a deferred job.
CREATE TABLE awa.callbacks (
    callback_id   uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    job_id        bigint NOT NULL,
    lane_seq      bigint NOT NULL,
    claim_no      bigint NOT NULL,
    lane_id       int NOT NULL,
    attempt       smallint NOT NULL,
    queue         text NOT NULL,
    kind          text NOT NULL,
    attempted_at  timestamptz NOT NULL,
    registered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    timeout_s     float8 NOT NULL CHECK (timeout_s > 0),
    expires_at    timestamptz NOT NULL,
    waiting_since timestamptz,
    resolution    text CHECK (resolution IN ('complete', 'fail', 'retry', 'resume', 'time_out', 'abandoned')),
    payload       jsonb,
    error         jsonb,
    resolved_at   timestamptz,
    resolved_by   text,
    applied_at    timestamptz,
    led_to        text,
    CHECK ((resolution IS NULL) = (resolved_at IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX ON awa.callbacks (job_id);
CREATE INDEX ON awa.callbacks (expires_at) WHERE resolved_at IS NULL;
CREATE INDEX ON awa.callbacks (resolved_at) WHERE resolved_at IS NOT NULL;
CREATE INDEX ON awa.callbacks (applied_at) WHERE applied_at IS NOT NULL;

-- A job that waits for a callback is deferred until its time-out; callback_id is the one that it waits for.
ALTER TABLE awa.deferred_jobs
    ADD COLUMN callback_id uuid,
    DROP CONSTRAINT deferred_jobs_state_check,
    ADD CONSTRAINT deferred_jobs_state_check CHECK (state IN ('scheduled', 'retryable', 'waiting_external')),
    ADD CONSTRAINT deferred_jobs_callback_check CHECK ((state = 'waiting_external') = (callback_id IS NOT NULL));
-- Promotion looks at this five times a second, and must not walk past those whose time-out is due.
DROP INDEX awa.deferred_jobs_run_at_job_id_idx;
CREATE INDEX ON awa.deferred_jobs (run_at, job_id) WHERE state <> 'waiting_external';
