-- How waiting jobs leave their places in lanes.

-- Deletes the rows of locked waiting jobs and notes where they were; what replaces them is the caller's.
-- moves: nothing
-- index: ready_entries primary key; appends to past_places
-- bound: the set
-- params: arrays of equal length: lane, position, slot; why
CREATE OR REPLACE FUNCTION awa.leave_lanes(p_lanes int[], p_seqs bigint[], p_slots smallint[], p_reason text) RETURNS void
LANGUAGE sql VOLATILE AS $$
    WITH gone AS (
        DELETE FROM awa.ready_entries r
         USING unnest(p_lanes, p_seqs) u(lane_id, lane_seq)
         WHERE r.lane_id = u.lane_id AND r.lane_seq = u.lane_seq AND r.claim_id IS NULL
        RETURNING r.job_id, r.lane_seq, r.lane_id, r.attempt, r.created_at, r.ready_at
    )
    INSERT INTO awa.past_places (job_id, lane_seq, lane_id, attempt, created_at, ready_at, reason)
    SELECT g.*, p_reason FROM gone g;
$$;

-- Gives locked waiting jobs a place in another lane: a guarded update of their rows, and a note of where they were.
-- moves: available -> available (in another lane)
-- index: ready_entries primary key; appends to past_places
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
BEGIN
    -- Materialized: a plan that reads the places more than once would draw positions each time.
    WITH places AS MATERIALIZED (
        SELECT g.*, nextval('awa.job_positions') AS position
          FROM (SELECT u.lane_id, u.lane_seq, m.first, m.stamp, e.job_id, e.attempt, e.created_at, e.ready_at,
                       CASE WHEN e.route_shard IS NOT NULL THEN coalesce(shard_before, e.route_shard) % m.width
                            ELSE awa.shard_for(m.width, NULL) END AS shard
                  FROM unnest(p_lanes, p_seqs) u(lane_id, lane_seq)
                  JOIN unnest(p_left, p_widths, p_firsts, p_stamps) m(lane_id, width, first, stamp) ON m.lane_id = u.lane_id
                 CROSS JOIN LATERAL (SELECT x.job_id, x.route_shard, x.attempt, x.created_at, x.ready_at FROM awa.ready_entries x
                                      WHERE x.lane_id = u.lane_id AND x.lane_seq = u.lane_seq AND x.claim_id IS NULL OFFSET 0) e
                 ORDER BY u.lane_seq OFFSET 0) g
    ), noted AS (
        INSERT INTO awa.past_places (job_id, lane_seq, lane_id, attempt, created_at, ready_at, reason)
        SELECT k.job_id, k.lane_seq, k.lane_id, k.attempt, k.created_at, k.ready_at, 'moved' FROM places k
    ), placed AS (
        UPDATE awa.ready_entries r
           SET lane_id = p_targets[k.first + k.shard], lane_seq = k.position, txid = p_txid, ready_at = clock_timestamp(),
               route_shard = CASE WHEN r.route_shard IS NOT NULL THEN k.shard END,
               metadata = CASE WHEN p_before IS NOT NULL THEN awa.as_before(r.metadata, p_before)
                               WHEN r.metadata IS NULL THEN k.stamp ELSE k.stamp || r.metadata END
          FROM places k
         WHERE r.lane_id = k.lane_id AND r.lane_seq = k.lane_seq AND r.claim_id IS NULL
        RETURNING r.job_id, r.lane_id, r.lane_seq, r.slot, r.route_shard
    )
    SELECT array_agg(p.job_id), array_agg(p.lane_id), array_agg(p.lane_seq), max(p.slot),
           array_agg(p.job_id) FILTER (WHERE p.route_shard IS NOT NULL),
           array_agg(p.route_shard) FILTER (WHERE p.route_shard IS NOT NULL)
      INTO ids, lanes, seqs, slot, routed, shards FROM placed p;
END $$;
