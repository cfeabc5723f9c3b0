-- Sessions in this database beside the one that asks.
select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
