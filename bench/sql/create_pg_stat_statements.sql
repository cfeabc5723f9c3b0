-- The server's own account of how long it worked on statements.
create extension if not exists pg_stat_statements
