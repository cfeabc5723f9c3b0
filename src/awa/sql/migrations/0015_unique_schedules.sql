-- How the jobs of a schedule are unique (null: they are not), and how often no job came, because another one held the key.
ALTER TABLE awa.cron_jobs
    ADD COLUMN unique_opts jsonb,
    ADD COLUMN skipped_count bigint NOT NULL DEFAULT 0;
