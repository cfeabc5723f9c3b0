-- Who holds which unique key, in whatever place the job is. The key is worked out from the job's recipe (the column
-- unique_key) and its queue: awa.held_key. Rows come and go with unique jobs alone.
CREATE TABLE awa.unique_keys (
    key    bytea PRIMARY KEY,
    job_id bigint NOT NULL
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
