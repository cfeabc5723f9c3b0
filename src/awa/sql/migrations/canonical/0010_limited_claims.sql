-- The claims of queues that have a rate limit: jobs that were claimed leave their rows, and the limit must still count them.
CREATE TABLE awa.limited_claims (
    lane_id    int NOT NULL,
    jobs       int NOT NULL,
    claimed_at timestamptz NOT NULL
);
CREATE INDEX ON awa.limited_claims (lane_id, claimed_at);
