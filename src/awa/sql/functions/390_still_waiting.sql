-- Of these positions, whose rows the caller has locked, those that nobody claimed and no tombstone covers.
-- moves: nothing
-- index: ready_entries (lane_id, lane_seq), lane_claims (lane_id, claim_no), ready_tombstones (lane_id, first_seq)
-- bound: the set
-- Unclaimed: at or past the cursor, or owed, or late (not shown by the snapshot of the claim that passed it).
-- VOLATILE, so that it reads what is committed now, not what the caller's statement saw before it waited.
CREATE OR REPLACE FUNCTION awa.still_waiting(p_lanes int[], p_seqs bigint[], p_slots smallint[])
RETURNS TABLE (job_id bigint, lane_id int, lane_seq bigint, slot smallint, queue text, priority smallint)
LANGUAGE sql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_hashjoin = on AS $$
    WITH heads AS MATERIALIZED (
        SELECT h.*, g.trusted_from
          FROM (SELECT DISTINCT unnest(p_lanes) AS lane_id) d
          JOIN awa.lane_heads h ON h.lane_id = d.lane_id
         CROSS JOIN awa.ring g
    )
    SELECT r.job_id, r.lane_id, r.lane_seq, r.slot, h.queue, h.priority
      FROM unnest(p_lanes, p_seqs, p_slots) u(lane_id, lane_seq, slot)
     CROSS JOIN LATERAL (SELECT e.* FROM awa.ready_entries e
                          WHERE e.slot = u.slot AND e.lane_id = u.lane_id AND e.lane_seq = u.lane_seq OFFSET 0) r
      JOIN heads h ON h.lane_id = r.lane_id
     WHERE (r.lane_seq >= h.cursor OR r.lane_seq <@ h.owed
            OR (r.lane_seq >= h.trusted_from AND NOT pg_visible_in_snapshot(r.txid, h.seen)))
       AND (r.lane_seq > h.last_dead
            OR coalesce((SELECT t.last_seq FROM awa.ready_tombstones t
                          WHERE t.slot = r.slot AND t.lane_id = r.lane_id AND t.first_seq <= r.lane_seq
                          ORDER BY t.first_seq DESC LIMIT 1), -1) < r.lane_seq);
$$;
