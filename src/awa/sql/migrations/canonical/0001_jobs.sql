-- The canonical storage: one ordinary table of jobs that wait in lanes, run, or were completed. A claim and an end are
-- guarded updates of the job's row. Docs: docs/explain/storages.md.

-- The columns of the lanes storage, and then the present attempt: unclaimed (claim_id is null), running, or completed
-- (closed_at). A job that ended otherwise has left: its row is in awa.deferred_jobs or awa.finished_jobs.
-- slot is always 0; txid is the transaction that last gave the job its place.
CREATE TABLE awa.ready_entries (
    lane_seq     bigint NOT NULL,
    job_id       bigint NOT NULL,
    txid         xid8 NOT NULL,
    ready_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    run_at       timestamptz,
    lane_id      int NOT NULL,
    slot         smallint NOT NULL,
    attempt      smallint NOT NULL DEFAULT 0,
    max_attempts smallint NOT NULL DEFAULT 25,
    route_shard  smallint,
    kind         text NOT NULL,
    args         json NOT NULL,
    tags         text[],
    metadata     jsonb,
    errors       jsonb,
    unique_key   bytea,
    route_key    bytea,
    claim_id     bigint,
    attempted_at timestamptz,
    deadline_at  timestamptz,
    runtime_id   uuid,
    closed_at    timestamptz,
    PRIMARY KEY (lane_id, lane_seq)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_threshold = 2000);

CREATE INDEX ready_entries_waiting ON awa.ready_entries (lane_id, lane_seq) WHERE claim_id IS NULL;
CREATE INDEX ready_entries_running ON awa.ready_entries (runtime_id) WHERE claim_id IS NOT NULL AND closed_at IS NULL;
CREATE INDEX ready_entries_completed ON awa.ready_entries (closed_at) WHERE closed_at IS NOT NULL;
CREATE INDEX ON awa.ready_entries (lane_id, txid, lane_seq);
CREATE INDEX ON awa.ready_entries (job_id);

CREATE SEQUENCE awa.claim_numbers AS bigint;

-- One slot that never ends; functions that both storages share ask for the open one.
INSERT INTO awa.ring (slots, system_identifier, last_txid)
SELECT 1, system_identifier, pg_current_xact_id() FROM pg_control_system();
DO $$
BEGIN
    -- lz4 halves the cost of storing documents where the server was built with it.
    IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        ALTER TABLE awa.ready_entries ALTER COLUMN args SET COMPRESSION lz4;
    END IF;
END $$;
