-- What a report would ask.
select count(*) from awa.jobs
