-- Cancels running jobs.
-- moves: running -> cancelled
-- index: see functions/420_cancel.sql
-- bound: the set
-- params: ids, reason
SELECT job_id FROM awa.cancel_running(%(ids)s::bigint[], %(reason)s::text)
