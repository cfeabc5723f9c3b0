-- Jobs that aren't over yet.
select count(*) as unfinished from procrastinate_jobs where status in ('todo', 'doing')
