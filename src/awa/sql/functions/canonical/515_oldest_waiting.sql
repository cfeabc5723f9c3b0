-- When the job that waits longest in a lane entered it; null when none waits. The cursor and what is owed are those of the
-- lanes storage.
-- index: ready_entries_waiting
-- bound: one row
CREATE OR REPLACE FUNCTION awa.oldest_waiting(p_lane int, p_cursor bigint, p_owed int8multirange) RETURNS timestamptz
LANGUAGE sql VOLATILE AS $$
    SELECT e.ready_at FROM awa.ready_entries e
     WHERE e.lane_id = p_lane AND e.claim_id IS NULL ORDER BY e.lane_seq LIMIT 1;
$$;
