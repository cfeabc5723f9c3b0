-- Of these positions, whose rows the caller has locked, those that nobody claimed and no tombstone covers.
-- moves: nothing
-- index: lane_claims (lane_id, claim_no), ready_tombstones (lane_id, first_seq)
-- bound: the set
-- params: arrays of one length: job, lane, position, slot, and the txid of the row (rows never change, so what was
--         read with the lock is still true); answers what is left of the first four
-- Unclaimed: at or past the cursor, or owed, or late (not shown by the snapshot of the claim that passed it).
-- VOLATILE, so that it reads what is committed now, not what the caller's statement saw before it waited.
DROP FUNCTION IF EXISTS awa.still_waiting(int[], bigint[], smallint[]);  -- it used to read the rows once more
CREATE OR REPLACE FUNCTION awa.still_waiting(
    p_ids bigint[], p_lanes int[], p_seqs bigint[], p_slots smallint[], p_txids xid8[],
    OUT ids bigint[], OUT lanes int[], OUT seqs bigint[], OUT slots smallint[])
LANGUAGE sql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_hashjoin = on AS $$
    WITH heads AS MATERIALIZED (
        SELECT h.*, g.trusted_from
          FROM (SELECT DISTINCT unnest(p_lanes) AS lane_id) d
          JOIN awa.lane_heads h ON h.lane_id = d.lane_id
         CROSS JOIN awa.ring g
    )
    SELECT coalesce(array_agg(r.job_id), '{}'), coalesce(array_agg(r.lane_id), '{}'), coalesce(array_agg(r.lane_seq), '{}'),
           coalesce(array_agg(r.slot), '{}')
      FROM unnest(p_ids, p_lanes, p_seqs, p_slots, p_txids) r(job_id, lane_id, lane_seq, slot, txid)
      JOIN heads h ON h.lane_id = r.lane_id
     WHERE (r.lane_seq >= h.cursor OR r.lane_seq <@ h.owed
            OR (r.lane_seq >= h.trusted_from AND NOT pg_visible_in_snapshot(r.txid, h.seen)))
       AND (r.lane_seq > h.last_dead
            OR coalesce((SELECT t.last_seq FROM awa.ready_tombstones t
                          WHERE t.slot = r.slot AND t.lane_id = r.lane_id AND t.first_seq <= r.lane_seq
                          ORDER BY t.first_seq DESC LIMIT 1), -1) < r.lane_seq);
$$;
