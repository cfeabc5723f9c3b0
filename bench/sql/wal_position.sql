-- How many bytes of WAL this server has written.
select pg_current_wal_insert_lsn() - '0/0'::pg_lsn
