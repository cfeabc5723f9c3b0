-- The locked jobs of a chunk with all that a filter may ask for, each row looked up at its place.
-- index: ready_entries (lane_id, lane_seq), deferred_jobs primary key
SELECT r.job_id AS id, r.kind, l.queue, 'available'::text AS state, l.priority, r.attempt, r.created_at,
       coalesce(r.run_at, r.created_at) AS run_at, r.args, coalesce(r.tags, ARRAY[]::text[]) AS tags,
       coalesce(r.errors, jsonb_build_array()) AS errors, NULL::timestamptz AS finalized_at,
       g.lane_id, g.lane_seq, g.slot
  FROM given g
 CROSS JOIN LATERAL (SELECT e.* FROM awa.ready_entries e
                      WHERE e.slot = g.slot AND e.lane_id = g.lane_id AND e.lane_seq = g.lane_seq OFFSET 0) r
  JOIN awa.lanes l ON l.lane_id = g.lane_id
UNION ALL
SELECT d.job_id, d.kind, d.queue, d.state, d.priority, d.attempt, d.created_at, d.run_at, d.args,
       coalesce(d.tags, ARRAY[]::text[]), coalesce(d.errors, jsonb_build_array()), NULL::timestamptz,
       NULL::int, NULL::bigint, NULL::smallint
  FROM given g
 CROSS JOIN LATERAL (SELECT k.* FROM awa.deferred_jobs k WHERE k.job_id = g.job_id OFFSET 0) d
 WHERE g.lane_id IS NULL
