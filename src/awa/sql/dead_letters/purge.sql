-- Deletes dead letters for good; answers those that were there.
-- moves: failed -> gone
-- index: primary keys
-- bound: the set
-- params: ids
WITH gone AS MATERIALIZED (
    DELETE FROM awa.finished_jobs f USING awa.dlq_entries d
     WHERE d.job_id = f.job_id AND f.job_id = ANY (%(ids)s::bigint[]) RETURNING f.job_id, f.unique_key, f.queue, f.state
), keys AS MATERIALIZED (
    SELECT awa.follow_keys(array_agg(g.job_id), array_agg(g.unique_key), array_agg(g.queue), array_agg(g.state),
                           array_agg('gone'::text))
      FROM gone g WHERE g.unique_key IS NOT NULL HAVING count(*) > 0
)
SELECT g.job_id AS id FROM gone g LEFT JOIN keys ON true
