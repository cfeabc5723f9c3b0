-- What the server is like, and the oldest transaction that keeps old row versions alive.
-- moves: nothing
-- index: none
-- bound: one row
-- params: none
SELECT current_setting('server_version') AS version, pg_is_in_recovery() AS in_recovery, clock_timestamp() AS now,
       (SELECT extract(epoch FROM max(clock_timestamp() - a.xact_start))::float8
          FROM pg_stat_activity a
         WHERE a.xact_start IS NOT NULL AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend') AS oldest_transaction_s
