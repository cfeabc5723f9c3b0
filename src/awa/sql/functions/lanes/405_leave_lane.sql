-- How waiting jobs leave their places in lanes.

-- Tombstones locked waiting jobs; what replaces them is the caller's.
-- moves: nothing
-- index: appends to ready_tombstones
-- bound: the set, as ranges
-- params: arrays of equal length: lane, position, slot; why
CREATE OR REPLACE FUNCTION awa.leave_lanes(p_lanes int[], p_seqs bigint[], p_slots smallint[], p_reason text) RETURNS void
LANGUAGE sql VOLATILE AS $$
    INSERT INTO awa.ready_tombstones (slot, lane_id, first_seq, last_seq, reason)
    SELECT k.slot, k.lane_id, lower(g), upper(g) - 1, p_reason
      FROM (SELECT u.slot, u.lane_id, range_agg(int8range(u.lane_seq, u.lane_seq + 1)) AS seqs
              FROM unnest(p_lanes, p_seqs, p_slots) u(lane_id, lane_seq, slot) GROUP BY u.slot, u.lane_id) k, unnest(k.seqs) g;
$$;

-- Gives locked waiting jobs a place in another lane: a new row at its end, a tombstone where they were.
-- moves: available -> available (in another lane)
-- index: ready_entries (lane_id, lane_seq)
-- bound: the set
-- params: the transaction's id, taken before any position is drawn; arrays of equal length: lane, position, slot; then what
--         awa.ways_out answered, by lane that is left; what the jobs had before, if they are put back (null: they are moved).
--         Answers where they are now as arrays, and the shards of those with a retained route
DROP FUNCTION IF EXISTS awa.relocate_ready(xid8, int[], bigint[], smallint[], int[], int[], int[], jsonb[], int[]);  -- answered nothing
CREATE OR REPLACE FUNCTION awa.relocate_ready(
    p_txid xid8, p_lanes int[], p_seqs bigint[], p_slots smallint[],
    p_left int[], p_widths int[], p_firsts int[], p_stamps jsonb[], p_targets int[], p_before jsonb,
    OUT ids bigint[], OUT lanes int[], OUT seqs bigint[], OUT slot smallint, OUT routed bigint[], OUT shards smallint[])
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    shard_before constant int := p_before ->> 'shard';
    gone record;
BEGIN
    WITH placed AS (
        INSERT INTO awa.ready_entries
               (lane_seq, job_id, txid, created_at, run_at, lane_id, slot, attempt, max_attempts, route_shard,
                kind, args, tags, metadata, errors, unique_key, route_key, concurrency_key, concurrency_limit)
        SELECT nextval('awa.job_positions'), k.job_id, p_txid, k.created_at, k.run_at, p_targets[k.first + k.shard], k.current_slot,
               k.attempt, k.max_attempts, CASE WHEN k.route_shard IS NOT NULL THEN k.shard END, k.kind, k.args, k.tags,
               CASE WHEN p_before IS NOT NULL THEN awa.as_before(k.metadata, p_before)
                    WHEN k.metadata IS NULL THEN k.stamp ELSE k.stamp || k.metadata END, k.errors, k.unique_key, k.route_key,
               k.concurrency_key, k.concurrency_limit
          FROM (SELECT r.*, m.first, m.stamp, c.current_slot,
                       CASE WHEN r.route_shard IS NOT NULL THEN coalesce(shard_before, r.route_shard) % m.width
                            ELSE awa.shard_for(m.width, NULL) END AS shard
                  FROM (SELECT w.slot, w.lane_id, array_agg(w.lane_seq ORDER BY w.lane_seq) AS seqs
                          FROM unnest(p_lanes, p_seqs, p_slots) w(lane_id, lane_seq, slot) GROUP BY w.slot, w.lane_id OFFSET 0) g
                  JOIN unnest(p_left, p_widths, p_firsts, p_stamps) m(lane_id, width, first, stamp) ON m.lane_id = g.lane_id
                 CROSS JOIN LATERAL (SELECT e.* FROM awa.ready_entries e
                                      WHERE e.slot = g.slot AND e.lane_id = g.lane_id AND e.lane_seq = ANY (g.seqs) OFFSET 0) r
                 CROSS JOIN awa.ring c
                 ORDER BY r.lane_seq OFFSET 0) k
        RETURNING job_id, lane_id, lane_seq, slot, route_shard
    )
    SELECT array_agg(p.job_id), array_agg(p.lane_id), array_agg(p.lane_seq), max(p.slot),
           array_agg(p.job_id) FILTER (WHERE p.route_shard IS NOT NULL),
           array_agg(p.route_shard) FILTER (WHERE p.route_shard IS NOT NULL)
      INTO ids, lanes, seqs, slot, routed, shards FROM placed p;
    SELECT array_agg(u.lane_id) AS lanes, array_agg(u.lane_seq) AS seqs, array_agg(u.slot) AS slots INTO gone
      FROM unnest(p_lanes, p_seqs, p_slots) u(lane_id, lane_seq, slot) WHERE u.lane_id = ANY (p_left);
    PERFORM awa.leave_lanes(gone.lanes, gone.seqs, gone.slots, 'moved');
END $$;
