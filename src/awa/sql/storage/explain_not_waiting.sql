-- Why jobs could not be locked as waiting.
-- moves: nothing
-- index: see functions/430_explain_not_waiting.sql
-- bound: the set
-- params: ids
SELECT job_id, reason FROM awa.explain_not_waiting(%(ids)s::bigint[])
