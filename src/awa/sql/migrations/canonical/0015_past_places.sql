-- Where jobs have been: written when a job leaves its row, or takes it into another lane, so that its story can be told. Jobs that
-- are enqueued, claimed and completed write nothing here: their row tells all of it.
-- claimed_at, runtime_id, outcome and left_at say how an attempt went; reason and left_at why a job left that nobody had claimed.
CREATE TABLE awa.past_places (
    job_id     bigint NOT NULL,
    lane_seq   bigint NOT NULL,
    lane_id    int NOT NULL,
    attempt    smallint NOT NULL,
    created_at timestamptz NOT NULL,
    ready_at   timestamptz NOT NULL,
    claimed_at timestamptz,
    runtime_id uuid,
    outcome    awa.attempt_outcome,
    reason     text,
    left_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK ((outcome IS NULL) <> (reason IS NULL))
);
CREATE INDEX ON awa.past_places (job_id, lane_seq);
-- Rows are appended in the order of time, so a summary of pages is enough to find the oldest.
CREATE INDEX ON awa.past_places USING brin (left_at) WITH (pages_per_range = 16, autosummarize = on);
