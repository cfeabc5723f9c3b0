-- A copy of a template. WAL_LOG is quick for a small template and forces no checkpoint.
create database {name} template {template} strategy wal_log
