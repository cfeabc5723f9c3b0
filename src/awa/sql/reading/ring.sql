-- How the ring stands: which slot is open since when, and what each takes on disk.
-- moves: nothing
-- index: none; asks for the sizes of four tables a slot
-- bound: the slots
SELECT g.current_slot, g.slots, g.opened_at, extract(epoch FROM clock_timestamp() - g.opened_at)::float8 AS opened_age_s,
       awa.slot_bytes() AS slot_bytes
  FROM awa.ring g
