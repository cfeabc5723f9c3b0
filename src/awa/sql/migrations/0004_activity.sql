-- What the maintenance leader notes of the work done, so that nobody has to read a day's closures to say how fast it goes.
-- Docs: docs/explain/statistics.md. The figures are for looking at: nothing is decided by them.

-- One row. Everything that was claimed or ended up to `until` has been looked at; `last_position` the same for what was
-- enqueued; blocks: how long each slot's table of closures was then (attempt_closures_0 first).
CREATE TABLE awa.activity_state (
    one           boolean PRIMARY KEY DEFAULT true CHECK (one),
    until         timestamptz,
    last_position bigint,
    blocks        bigint[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);
INSERT INTO awa.activity_state DEFAULT VALUES;

-- What was done in the `seconds` up to `at`: in all, in a queue, or by jobs of a kind. Attempts are counted where they ended.
-- pickup (from ready to claimed) and run (from claimed to ended) are histograms: the n-th figure counts waits below
-- 2 ^ ((n - 1) / 2) ms that the one before it doesn't.
CREATE TABLE awa.activity (
    at        timestamptz NOT NULL,
    scope     text NOT NULL CHECK (scope IN ('all', 'queue', 'kind')),
    name      text NOT NULL,
    seconds   float8 NOT NULL,
    arrived   bigint NOT NULL,
    started   bigint NOT NULL,
    completed bigint NOT NULL,
    failed    bigint NOT NULL,
    retried   bigint NOT NULL,
    cancelled bigint NOT NULL,
    other     bigint NOT NULL,
    pickup    bigint[] NOT NULL,
    run       bigint[] NOT NULL,
    PRIMARY KEY (scope, at, name)
);
CREATE INDEX ON awa.activity (at);

-- Attempts that ended so, of the jobs that a slot of the ring still holds.
CREATE TABLE awa.activity_totals (
    slot    smallint NOT NULL,
    scope   text NOT NULL CHECK (scope IN ('queue', 'kind')),
    name    text NOT NULL,
    outcome awa.attempt_outcome NOT NULL,
    jobs    bigint NOT NULL,
    PRIMARY KEY (slot, scope, name, outcome)
) WITH (fillfactor = 50);
