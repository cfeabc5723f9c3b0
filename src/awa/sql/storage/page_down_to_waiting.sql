-- A page of jobs, newest first, wherever they are, as far down as jobs wait: found from those, and not by walking through ids.
-- moves: nothing
-- index: those of awa.lane_backlog_of and awa.lane_passed; ready_entries (lane_id, lane_seq), and those of the places
-- bound: jobs + 1 waiting ones and passed_max + 1 claimed ones are looked at; with more of either there is no page (`to_id` is null)
-- params: before_id (null: from the newest), max_rows, jobs, passed_max, lane_queues and lane_priority (null: all
--         lanes), and those of the filter: {predicate} over alias j, {places} what of it a lane alone can answer, {raw} what the row
--         that a job has in its lane can
-- Each row has `to_id`: all jobs that match, from there on up, have been seen; and `waiting`, how many that match wait in lanes. One row
-- with a null id where none matches.
-- Where an operation has moved jobs to and fro, each id stands for many rows. Of waiting jobs the backlog knows the one that counts.
-- What was claimed stands before the newest claim's cursor, and a job's position is never less than its id: so all claimed jobs with ids
-- from to_id on are found between to_id and that cursor. The states of those that match are found out one by one, newest first.
WITH walked AS MATERIALIZED (
    SELECT count(*) AS looked, min(j.id) AS oldest,
           coalesce(array_agg(j.id) FILTER (WHERE {predicate}), '{{}}') AS ids
      FROM (SELECT * FROM awa.lane_backlog_of(%(lane_queues)b::text[], %(lane_priority)s::smallint) j LIMIT %(jobs)s + 1) j
), found AS MATERIALIZED (
    SELECT w.looked, w.oldest, cardinality(w.ids) AS waiting,
           ARRAY(SELECT k.id FROM unnest(w.ids) k(id) WHERE k.id < coalesce(%(before_id)s::bigint, 9223372036854775807)
                  ORDER BY k.id DESC LIMIT %(max_rows)s) AS ids
      FROM walked w
), down AS MATERIALIZED (
    SELECT k.to_id
      FROM (SELECT CASE WHEN cardinality(f.ids) >= %(max_rows)s THEN f.ids[%(max_rows)s]
                        ELSE f.oldest END AS to_id
              FROM found f WHERE f.looked <= %(jobs)s) k
     WHERE k.to_id < coalesce(%(before_id)s::bigint, 9223372036854775807)
), heads AS MATERIALIZED (
    SELECT j.lane_id, j.passed_below FROM awa.lane_passed j WHERE {places}
), passed AS MATERIALIZED (
    SELECT j.id, j.id >= d.to_id AND j.id < coalesce(%(before_id)s::bigint, 9223372036854775807) AND {raw} AS matches
      FROM down d CROSS JOIN heads h CROSS JOIN LATERAL (
           SELECT e.job_id AS id, e.kind, e.args, coalesce(e.tags, '{{}}') AS tags, coalesce(e.errors, '[]') AS errors,
                  coalesce(e.run_at, e.created_at) AS run_at, e.created_at
             FROM awa.ready_entries e WHERE e.lane_id = h.lane_id AND e.lane_seq >= d.to_id AND e.lane_seq < h.passed_below OFFSET 0) j
     LIMIT %(passed_max)s + 1
)
SELECT d.to_id, (SELECT f.waiting FROM found f) AS waiting, k.*
  FROM (SELECT CASE WHEN (SELECT count(*) FROM passed) <= %(passed_max)s THEN (SELECT d.to_id FROM down d) END AS to_id) d
  LEFT JOIN LATERAL (
       SELECT u.*
         FROM ((SELECT w.id, r.kind, l.queue, 'available' AS state, l.priority, r.attempt, r.max_attempts, r.args,
                       coalesce(r.tags, '{{}}') AS tags, coalesce(r.metadata - '_awa_progress', '{{}}') AS metadata, coalesce(r.errors, '[]') AS errors,
                       coalesce(r.run_at, r.created_at) AS run_at, r.created_at, r.ready_at, NULL::timestamptz AS attempted_at,
                       NULL::timestamptz AS finalized_at, NULL::timestamptz AS deadline_at, NULL::uuid AS runtime_id, l.enqueue_shard,
                       r.metadata -> '_awa_progress' AS progress
                  FROM (SELECT unnest(f.ids) AS id FROM found f) w
                 CROSS JOIN LATERAL (SELECT e.* FROM awa.ready_entries e WHERE e.job_id = w.id ORDER BY e.lane_seq DESC LIMIT 1) r
                  JOIN awa.lanes l ON l.lane_id = r.lane_id)
               UNION ALL
               (SELECT j.*
                  FROM (SELECT DISTINCT p.id FROM passed p WHERE p.matches ORDER BY p.id DESC) p
                 CROSS JOIN LATERAL (SELECT * FROM awa.lane_places j WHERE j.id = p.id AND j.state <> 'available' AND {predicate} OFFSET 0) j
                 LIMIT %(max_rows)s)
               UNION ALL
               (SELECT j.* FROM awa.deferred_places j
                 WHERE j.id >= d.to_id AND j.id < coalesce(%(before_id)s::bigint, 9223372036854775807) AND {predicate}
                 ORDER BY j.id DESC LIMIT %(max_rows)s)
               UNION ALL
               (SELECT j.* FROM awa.finished_places j
                 WHERE j.id >= d.to_id AND j.id < coalesce(%(before_id)s::bigint, 9223372036854775807) AND {predicate}
                 ORDER BY j.id DESC LIMIT %(max_rows)s)) u
        WHERE d.to_id IS NOT NULL
        ORDER BY u.id DESC LIMIT %(max_rows)s) k ON true
 ORDER BY k.id DESC
