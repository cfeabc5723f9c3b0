-- The lanes storage: a job that can run is one immutable row at a position of a lane; everything that
-- happens to it is another appended row. Docs: docs/explain/engine.md; the journeys: ARCHITECTURE.md.

-- Slots that are over and wait to be emptied. retired_txid: the transaction that found nothing live in it, or carried that
-- away (null: not yet); seen_at: a time at which it had committed; counted: what came later must be looked at.
CREATE TABLE awa.ring_slots (
    slot         smallint PRIMARY KEY,
    retired_txid xid8,
    seen_at      timestamptz,
    counted      pg_snapshot
) WITH (fillfactor = 50);

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
    route_key    bytea
) PARTITION BY LIST (slot);

CREATE TABLE awa.ready_tombstones (
    first_seq bigint NOT NULL,
    last_seq  bigint NOT NULL CHECK (last_seq >= first_seq),
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    lane_id   int NOT NULL,
    slot      smallint NOT NULL,
    reason    text NOT NULL
) PARTITION BY LIST (slot);

CREATE TABLE awa.lane_claims (
    claim_no    bigint NOT NULL,
    cursor      bigint NOT NULL,
    claimed_at  timestamptz NOT NULL,
    deadline_at timestamptz,
    runtime_id  uuid,
    lane_id     int NOT NULL,
    jobs        int NOT NULL,
    slot        smallint NOT NULL,
    seqs        int8multirange NOT NULL,
    seen        pg_snapshot NOT NULL,
    owed        int8multirange NOT NULL
) PARTITION BY LIST (slot);

CREATE TABLE awa.attempt_closures (
    claim_no  bigint NOT NULL,
    closed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    lane_id   int NOT NULL,
    jobs      int NOT NULL,
    slot      smallint NOT NULL,
    outcome   awa.attempt_outcome NOT NULL,
    seqs      int8multirange NOT NULL
) PARTITION BY LIST (slot);

-- Slots are made here, once, so that the running program needs no right to create tables. Nothing in them
-- is updated or deleted, so vacuum has no work; statistics are still wanted.
DO $$
DECLARE
    ring_slots constant int := 8;
    settings constant text := 'autovacuum_vacuum_threshold = 2000000000, '
        'autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_threshold = 2000';
    parent text;
    s int;
BEGIN
    FOREACH parent IN ARRAY ARRAY['ready_entries', 'ready_tombstones', 'lane_claims', 'attempt_closures'] LOOP
        FOR s IN 0 .. ring_slots - 1 LOOP
            EXECUTE format('CREATE TABLE awa.%I PARTITION OF awa.%I FOR VALUES IN (%s) WITH (%s)',
                           parent || '_' || s, parent, s, settings);
        END LOOP;
    END LOOP;
    INSERT INTO awa.ring (slots, system_identifier, last_txid)
    SELECT ring_slots, system_identifier, pg_current_xact_id() FROM pg_control_system();
    INSERT INTO awa.ring_slots (slot) SELECT generate_series(0, ring_slots - 1);
    -- lz4 halves the cost of storing documents where the server was built with it.
    IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        FOR s IN 0 .. ring_slots - 1 LOOP
            EXECUTE format('ALTER TABLE awa.ready_entries_%s ALTER COLUMN args SET COMPRESSION lz4', s);
        END LOOP;
        ALTER TABLE awa.ready_entries ALTER COLUMN args SET COMPRESSION lz4;
    END IF;
END $$;

CREATE UNIQUE INDEX ON awa.ready_entries (lane_id, lane_seq, slot);
CREATE INDEX ON awa.ready_entries (lane_id, txid, lane_seq);
CREATE INDEX ON awa.ready_entries (job_id);
CREATE INDEX ON awa.ready_tombstones (lane_id, first_seq) INCLUDE (last_seq);
CREATE INDEX ON awa.lane_claims (lane_id, claim_no);
CREATE INDEX ON awa.lane_claims (runtime_id, claimed_at) WHERE jobs > 0;
CREATE INDEX ON awa.lane_claims USING gist (seqs) WHERE jobs > 0;
CREATE INDEX ON awa.attempt_closures (lane_id, claim_no);
