-- The locked jobs of a chunk for a filter that asks for nothing but where they wait: no job row is read for it.
-- index: lanes and deferred_jobs primary keys
SELECT g.job_id AS id, l.queue, 'available'::text AS state, l.priority, g.lane_id, g.lane_seq, g.slot
  FROM given g
  JOIN awa.lanes l ON l.lane_id = g.lane_id
UNION ALL
SELECT g.job_id, d.queue, d.state, d.priority, NULL::int, NULL::bigint, NULL::smallint
  FROM given g
 CROSS JOIN LATERAL (SELECT k.queue, k.state, k.priority FROM awa.deferred_jobs k WHERE k.job_id = g.job_id OFFSET 0) d
 WHERE g.lane_id IS NULL
