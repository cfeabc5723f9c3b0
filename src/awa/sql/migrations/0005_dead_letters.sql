-- Dead letters: failed jobs that somebody has to look at, kept until they are retried or purged.

-- A mark on a row of finished_jobs, so a dead letter is in one place with all it had. Whatever takes the job out of there
-- takes the mark along.
CREATE TABLE awa.dlq_entries (
    job_id      bigint PRIMARY KEY REFERENCES awa.finished_jobs (job_id) ON DELETE CASCADE,
    dlq_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    reason      text NOT NULL,
    queue       text NOT NULL,
    kind        text NOT NULL,
    fingerprint text NOT NULL,
    error       text
);
CREATE INDEX ON awa.dlq_entries (dlq_at, job_id);
CREATE INDEX ON awa.dlq_entries (queue, dlq_at);
CREATE INDEX ON awa.dlq_entries (kind, fingerprint);

-- Do jobs of the queue that fail become dead letters?
ALTER TABLE awa.queue_meta ADD COLUMN dlq_enabled boolean NOT NULL DEFAULT false;
