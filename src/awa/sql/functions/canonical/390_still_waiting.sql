-- Of these positions, whose rows the caller has locked, those that nobody claimed.
-- moves: nothing
-- index: ready_entries primary key
-- bound: the set
-- params: arrays of one length: job, lane, position, slot, and the txid of the row; answers what is left of the first four
-- VOLATILE, so that it reads what is committed now, not what the caller's statement saw before it waited.
CREATE OR REPLACE FUNCTION awa.still_waiting(
    p_ids bigint[], p_lanes int[], p_seqs bigint[], p_slots smallint[], p_txids xid8[],
    OUT ids bigint[], OUT lanes int[], OUT seqs bigint[], OUT slots smallint[])
LANGUAGE sql VOLATILE SET plan_cache_mode = force_generic_plan AS $$
    SELECT coalesce(array_agg(u.job_id), '{}'), coalesce(array_agg(u.lane_id), '{}'), coalesce(array_agg(u.lane_seq), '{}'),
           coalesce(array_agg(u.slot), '{}')
      FROM unnest(p_ids, p_lanes, p_seqs, p_slots) u(job_id, lane_id, lane_seq, slot)
     CROSS JOIN LATERAL (SELECT FROM awa.ready_entries e
                          WHERE e.lane_id = u.lane_id AND e.lane_seq = u.lane_seq AND e.claim_id IS NULL OFFSET 0) r;
$$;
