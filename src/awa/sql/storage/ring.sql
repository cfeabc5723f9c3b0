-- How the ring stands.
-- moves: nothing
-- index: none
-- bound: one row
SELECT current_slot, slots, opened_at, trusted_from FROM awa.ring
