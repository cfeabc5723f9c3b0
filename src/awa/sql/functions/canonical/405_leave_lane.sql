-- How waiting jobs leave their places in lanes.

-- Deletes the rows of locked waiting jobs; what replaces them is the caller's.
-- moves: nothing
-- index: ready_entries primary key
-- bound: the set
-- params: arrays of equal length: lane, position, slot; why
CREATE OR REPLACE FUNCTION awa.leave_lanes(p_lanes int[], p_seqs bigint[], p_slots smallint[], p_reason text) RETURNS void
LANGUAGE sql VOLATILE AS $$
    DELETE FROM awa.ready_entries r
     USING unnest(p_lanes, p_seqs) u(lane_id, lane_seq)
     WHERE r.lane_id = u.lane_id AND r.lane_seq = u.lane_seq AND r.claim_id IS NULL;
$$;

-- Gives locked waiting jobs a place in another lane: a guarded update of their rows.
-- moves: available -> available (in another lane)
-- index: ready_entries primary key
-- bound: the set
-- params: the transaction's id, taken before any position is drawn; arrays of equal length: lane, position, slot; then what
--         awa.ways_out answered, by lane that is left
CREATE OR REPLACE FUNCTION awa.relocate_ready(
    p_txid xid8, p_lanes int[], p_seqs bigint[], p_slots smallint[],
    p_left int[], p_widths int[], p_firsts int[], p_stamps jsonb[], p_targets int[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- Materialized: a plan that reads the places more than once would draw positions each time.
    WITH places AS MATERIALIZED (
        SELECT g.*, nextval('awa.job_positions') AS position
          FROM (SELECT u.lane_id, u.lane_seq, m.first, m.stamp,
                       CASE WHEN e.route_shard IS NOT NULL THEN e.route_shard % m.width ELSE awa.shard_for(m.width, NULL) END AS shard
                  FROM unnest(p_lanes, p_seqs) u(lane_id, lane_seq)
                  JOIN unnest(p_left, p_widths, p_firsts, p_stamps) m(lane_id, width, first, stamp) ON m.lane_id = u.lane_id
                 CROSS JOIN LATERAL (SELECT x.route_shard FROM awa.ready_entries x
                                      WHERE x.lane_id = u.lane_id AND x.lane_seq = u.lane_seq OFFSET 0) e
                 ORDER BY u.lane_seq OFFSET 0) g
    )
    UPDATE awa.ready_entries r
       SET lane_id = p_targets[k.first + k.shard], lane_seq = k.position, txid = p_txid, ready_at = clock_timestamp(),
           route_shard = CASE WHEN r.route_shard IS NOT NULL THEN k.shard END,
           metadata = CASE WHEN r.metadata IS NULL THEN k.stamp ELSE k.stamp || r.metadata END
      FROM places k
     WHERE r.lane_id = k.lane_id AND r.lane_seq = k.lane_seq AND r.claim_id IS NULL;
END $$;
