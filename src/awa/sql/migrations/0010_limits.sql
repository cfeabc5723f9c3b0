-- Limits: how much of a queue may run, how fast it is begun, and how many jobs of one key run at once.

-- What operators set, for all workers together. max_running: attempts that may be open at once; rate_limit: claims within any
-- rate_period_s seconds. Null: no such limit. No row is written when a job is claimed or ends: see awa.limit_claim.
ALTER TABLE awa.queue_meta
    ADD COLUMN max_running   int CHECK (max_running BETWEEN 1 AND 1000000),
    ADD COLUMN rate_limit    int CHECK (rate_limit BETWEEN 1 AND 1000000),
    ADD COLUMN rate_period_s float8 CHECK (rate_period_s BETWEEN 0.1 AND 86400),
    ADD CHECK ((rate_limit IS NULL) = (rate_period_s IS NULL));

-- At most so many jobs of a key run at once. A job with a key takes a place in a lane only together with a place of its key;
-- until then it is in deferred_jobs as available ("parked"), where no claim walks past it.
ALTER TABLE awa.ready_entries ADD COLUMN concurrency_key text, ADD COLUMN concurrency_limit smallint;
ALTER TABLE awa.finished_jobs ADD COLUMN concurrency_key text, ADD COLUMN concurrency_limit smallint;
ALTER TABLE awa.deferred_jobs
    ADD COLUMN concurrency_key text,
    ADD COLUMN concurrency_limit smallint,
    ADD CONSTRAINT deferred_jobs_concurrency_check CHECK ((concurrency_key IS NULL) = (concurrency_limit IS NULL)),
    ADD CONSTRAINT deferred_jobs_parked_check CHECK (state <> 'available' OR concurrency_key IS NOT NULL),
    DROP CONSTRAINT deferred_jobs_state_check,
    ADD CONSTRAINT deferred_jobs_state_check CHECK (state IN ('scheduled', 'retryable', 'waiting_external', 'available'));
CREATE INDEX ON awa.deferred_jobs (concurrency_key, priority, job_id) WHERE state = 'available';

-- Promotion looks at this five times a second, and must not walk past those that wait for something else than a time.
DROP INDEX awa.deferred_jobs_run_at_job_id_idx;
CREATE INDEX ON awa.deferred_jobs (run_at, job_id) WHERE state IN ('scheduled', 'retryable');

-- Who has the places of a key: 1 to its limit. A row is there as long as its job waits in a lane or runs.
CREATE TABLE awa.concurrency_admissions (
    key    text NOT NULL,
    place  smallint NOT NULL CHECK (place >= 1),
    job_id bigint NOT NULL,
    PRIMARY KEY (key, place)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

-- Parked jobs of a queue, to be listed and counted with those in its lanes.
CREATE INDEX ON awa.deferred_jobs (queue, job_id) WHERE state = 'available';

ALTER TABLE awa.cron_jobs ADD COLUMN concurrency_key text, ADD COLUMN concurrency_limit smallint;
