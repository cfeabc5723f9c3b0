-- When the job that waits longest in a lane entered it; null when none waits.
-- index: ready_entries (lane_id, lane_seq), ready_tombstones (lane_id, first_seq)
-- bound: 200 tombstone ranges, then 1,000 rows
-- The cursor in a sub-select of its own: a volatile function compared with each row would cost the index.
CREATE OR REPLACE FUNCTION awa.oldest_waiting(p_lane int, p_cursor bigint, p_owed int8multirange) RETURNS timestamptz
LANGUAGE sql VOLATILE AS $$
    SELECT least(
        (SELECT min(r.ready_at) FROM unnest(p_owed) g CROSS JOIN LATERAL (
            SELECT e.ready_at FROM awa.ready_entries e
             WHERE e.lane_id = p_lane AND e.lane_seq >= lower(g) AND e.lane_seq < upper(g) ORDER BY e.lane_seq LIMIT 1) r),
        (SELECT k.ready_at
           FROM (SELECT e.slot, e.lane_id, e.lane_seq, e.ready_at FROM awa.ready_entries e
                  WHERE e.lane_id = p_lane AND e.lane_seq >= (SELECT awa.pass_tombstones(p_lane, p_cursor))
                  ORDER BY e.lane_seq LIMIT 1000) k
          WHERE coalesce((SELECT t.last_seq FROM awa.ready_tombstones t
                           WHERE t.slot = k.slot AND t.lane_id = k.lane_id AND t.first_seq <= k.lane_seq
                           ORDER BY t.first_seq DESC LIMIT 1), -1) < k.lane_seq
          ORDER BY k.lane_seq LIMIT 1));
$$;
