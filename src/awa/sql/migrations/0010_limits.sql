-- Limits: how much of a queue may run, how fast it is begun, and how many jobs of one key run at once.

-- What operators set, for all workers together. max_running: attempts that may be open at once; rate_limit: claims within any
-- rate_period_s seconds. Null: no such limit. No row is written when a job is claimed or ends: see awa.limit_claim.
ALTER TABLE awa.queue_meta
    ADD COLUMN max_running   int CHECK (max_running BETWEEN 1 AND 1000000),
    ADD COLUMN rate_limit    int CHECK (rate_limit BETWEEN 1 AND 1000000),
    ADD COLUMN rate_period_s float8 CHECK (rate_period_s BETWEEN 0.1 AND 86400),
    ADD CHECK ((rate_limit IS NULL) = (rate_period_s IS NULL));
