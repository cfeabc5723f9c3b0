-- Jobs by their ids, as many of them as there still are.
-- moves: nothing
-- index: see views/120_find_job.sql
-- bound: the set
-- params: ids
SELECT j.* FROM (SELECT DISTINCT unnest(%(ids)s::bigint[]) AS id) u CROSS JOIN LATERAL awa.find_job(u.id) j
