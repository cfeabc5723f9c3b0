-- Milliseconds that the server spent on this database's statements since the reset, planning and execution.
select coalesce(sum(total_exec_time + total_plan_time), 0)
  from pg_stat_statements
 where dbid = (select oid from pg_database where datname = current_database())
