-- How the ring stands: which slot is open since when, and what each takes on disk.
-- moves: nothing
-- index: none; asks for the sizes of four tables a slot
-- bound: the slots
SELECT g.current_slot, g.slots, g.opened_at, extract(epoch FROM clock_timestamp() - g.opened_at)::float8 AS opened_age_s,
       ARRAY(SELECT (SELECT sum(pg_total_relation_size(('awa.' || t || '_' || s)::regclass))::bigint
                       FROM unnest(ARRAY['ready_entries', 'ready_tombstones', 'lane_claims', 'attempt_closures']) t)
               FROM generate_series(0, g.slots - 1) s ORDER BY s) AS slot_bytes
  FROM awa.ring g
