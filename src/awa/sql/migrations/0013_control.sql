-- Control of batch operations while they run: pause and resume, pace, a first moment, a greatest size, and one switch for all.

-- paused_from: where a resumed operation goes on. paced_until: its limit a second lets the next chunk begin then, which is
-- another thing than wait_until (a busy database, a pass over locked jobs). not_before: it does not begin earlier.
-- max_jobs: the scan lists no more.
ALTER TABLE awa.batch_operations
    ADD COLUMN paused_from   text CHECK (paused_from IN ('pending', 'scanning', 'running')),
    ADD COLUMN paused_by     text,
    ADD COLUMN paused_at     timestamptz,
    ADD COLUMN paused_reason text,
    ADD COLUMN paced_until   timestamptz,
    ADD COLUMN not_before    timestamptz,
    ADD COLUMN max_jobs      bigint CHECK (max_jobs > 0),
    DROP CONSTRAINT batch_operations_state_check,
    ADD CONSTRAINT batch_operations_state_check CHECK (state IN
        ('pending', 'scanning', 'running', 'paused', 'cancelling', 'completed', 'cancelled', 'failed')),
    ADD CONSTRAINT batch_operations_paused_check CHECK ((state = 'paused') = (paused_from IS NOT NULL));

DROP INDEX awa.batch_operations_priority_submitted_at_id_idx;
CREATE INDEX ON awa.batch_operations (priority, submitted_at, id)
    WHERE state IN ('pending', 'scanning', 'running', 'paused', 'cancelling');

-- What changed without a change of state: {"max_rows_per_second": [before, after], "priority": [before, after]}.
ALTER TABLE awa.batch_operation_events ADD COLUMN changes jsonb;

-- Each time that all operations were held; one that is not released yet holds them now.
CREATE TABLE awa.batch_operation_holds (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    held_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    held_by         text NOT NULL,
    reason          text,
    released_at     timestamptz,
    released_by     text,
    released_reason text,
    CHECK ((released_at IS NULL) = (released_by IS NULL))
);
CREATE UNIQUE INDEX ON awa.batch_operation_holds ((released_at IS NULL)) WHERE released_at IS NULL;
