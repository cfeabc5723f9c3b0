-- One plain INSERT … SELECT.
-- params: jobs
insert into plain_jobs (queue, priority, kind, args)
select 'bench', 2, 'noop', '{"n": 1}' from generate_series(1, %(jobs)s::int)
