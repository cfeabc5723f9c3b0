-- Jobs that PgQueuer still has to do: a finished job leaves its table.
select count(*) from pgqueuer
