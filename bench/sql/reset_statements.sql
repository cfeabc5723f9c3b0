-- Begin a new account.
select pg_stat_statements_reset()
