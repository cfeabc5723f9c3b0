-- A page of the available jobs, newest first, by looking at all of them; how many those were (`looked`), and how many of them
-- match (`waiting`).
-- moves: nothing
-- index: that of awa.available_backlog_of; the page's rows by ready_entries (job_id) and deferred_jobs primary key
-- bound: jobs + 1 are looked at; where `looked` is more than jobs, the page isn't one: not all have been seen
-- params: before_id (null: from the newest), max_rows, jobs, lane_queues and lane_priority (null: all lanes), and those of the
--         filter: {predicate} over alias j
-- One row with null in place of a job where none matches. Ids first, then the rows of the page: whole rows of a hundred
-- thousand jobs would cost as much again, and so would the places of all. A job's newest row is the one that can wait.
WITH walked AS MATERIALIZED (
    SELECT count(*) AS looked,
           coalesce(array_agg(j.id) FILTER (WHERE {predicate}), '{{}}') AS ids
      FROM (SELECT * FROM awa.available_backlog_of(%(lane_queues)b::text[], %(lane_priority)s::smallint) j LIMIT %(jobs)s + 1) j
), found AS MATERIALIZED (
    SELECT w.looked, cardinality(w.ids) AS waiting,
           ARRAY(SELECT k.id FROM unnest(w.ids) k(id) WHERE k.id < coalesce(%(before_id)s::bigint, 9223372036854775807)
                  ORDER BY k.id DESC LIMIT %(max_rows)s) AS ids
      FROM walked w
)
SELECT f.looked, f.waiting, k.*
  FROM found f
  LEFT JOIN LATERAL (
       SELECT p.id, r.kind, l.queue, 'available' AS state, l.priority, r.attempt, r.max_attempts, r.args, coalesce(r.tags, '{{}}') AS tags,
              coalesce(r.metadata - '_awa_progress', '{{}}') AS metadata, coalesce(r.errors, '[]') AS errors, coalesce(r.run_at, r.created_at) AS run_at,
              r.created_at, r.ready_at, NULL::timestamptz AS attempted_at, NULL::timestamptz AS finalized_at,
              NULL::timestamptz AS deadline_at, NULL::uuid AS runtime_id, l.enqueue_shard, r.metadata -> '_awa_progress' AS progress
         FROM unnest(f.ids) p(id)
        CROSS JOIN LATERAL (SELECT e.* FROM awa.ready_entries e WHERE e.job_id = p.id ORDER BY e.lane_seq DESC LIMIT 1) r
         JOIN awa.lanes l ON l.lane_id = r.lane_id
        WHERE NOT EXISTS (SELECT FROM awa.deferred_jobs d WHERE d.job_id = p.id)
       UNION ALL
       SELECT d.* FROM unnest(f.ids) p(id) JOIN awa.deferred_places d ON d.id = p.id) k ON true
 ORDER BY k.id DESC
