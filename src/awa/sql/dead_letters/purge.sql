-- Deletes dead letters for good; answers those that were there.
-- moves: failed -> gone
-- index: primary keys
-- bound: the set
-- params: ids
DELETE FROM awa.finished_jobs f USING awa.dlq_entries d
 WHERE d.job_id = f.job_id AND f.job_id = ANY (%(ids)s::bigint[]) RETURNING f.job_id AS id
