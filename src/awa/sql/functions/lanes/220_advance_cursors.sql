-- Moves lanes' cursors over what was moved away or cancelled at their front, where no claim does: in queues that are paused or
-- that nobody serves. Whoever reads the lane then doesn't walk over it again and again.
-- moves: nothing
-- index: that of awa.lane_heads; ready_entries (lane_id, lane_seq), ready_tombstones (lane_id, first_seq)
-- bound: p_lanes_max lanes, each as far as awa.advance_cursor goes in one call; two probes a lane that has tombstones past its cursor
-- params: how many lanes; answers how many were moved on
CREATE OR REPLACE FUNCTION awa.advance_cursors(p_lanes_max int) RETURNS int
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    lanes int[];
    lane int;
    moved int := 0;
BEGIN
    PERFORM awa.require_read_committed();
    lanes := ARRAY(
        SELECT h.lane_id FROM awa.lane_heads h
         CROSS JOIN LATERAL (SELECT r.lane_seq FROM awa.ready_entries r
                              WHERE r.lane_id = h.lane_id AND r.lane_seq >= h.cursor ORDER BY r.lane_seq LIMIT 1) e
         CROSS JOIN LATERAL (SELECT t.last_seq FROM awa.ready_tombstones t
                              WHERE t.lane_id = h.lane_id AND t.first_seq <= e.lane_seq ORDER BY t.first_seq DESC LIMIT 1) d
         WHERE h.last_dead >= h.cursor AND d.last_seq >= e.lane_seq
         LIMIT p_lanes_max);
    FOREACH lane IN ARRAY lanes LOOP
        moved := moved + awa.advance_cursor(lane)::int;
    END LOOP;
    RETURN moved;
END $$;

-- One lane's. As in a claim: the lane's lock, then head and snapshot in a new statement, and what came late since the last head
-- is owed in the new one, for its snapshot will say of it that it was there.
-- moves: nothing
-- index: as above, and ready_entries (lane_id, txid, lane_seq)
-- bound: 10 steps; one passes a large tombstone or looks at 1,000 rows. A lane that somebody claims from is left alone
-- params: the lane; answers whether its cursor was moved
-- What is passed has a committed tombstone, which is final. A row in between that can't be seen yet is recognised as late.
CREATE OR REPLACE FUNCTION awa.advance_cursor(p_lane int) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    steps_max constant int := 10;
    rows_max constant int := 1000;
    head record;
    cursor_ bigint;
    owed int8multirange;
    next_seq bigint;
    last_seq bigint;
    dead_to bigint;
    dead int8multirange;
    live bigint;
BEGIN
    IF NOT pg_try_advisory_xact_lock(4712, p_lane) THEN RETURN false; END IF;
    PERFORM awa.pause_point('advance.before_snapshot');
    SELECT coalesce(h.claim_no, 0) AS claim_no, coalesce(h.cursor, 0) AS cursor, h.seen, coalesce(h.owed, '{}') AS owed,
           coalesce(h.total, 0) AS total,
           g.trusted_from, g.last_txid, g.current_slot, pg_current_snapshot() AS snap
      INTO head
      FROM awa.ring g
      LEFT JOIN LATERAL (SELECT c.claim_no, c.cursor, c.seen, c.owed, c.total FROM awa.lane_claims c
                          WHERE c.lane_id = p_lane ORDER BY c.claim_no DESC LIMIT 1) h ON true;
    PERFORM awa.pause_point('advance.after_snapshot');
    -- After a restore into another cluster nothing is known of ids; see awa.claim_lane.
    IF pg_snapshot_xmax(head.snap) < head.last_txid THEN RETURN false; END IF;
    owed := head.owed;
    IF head.seen IS NOT NULL THEN
        owed := owed + awa.late_positions(p_lane, head.cursor, head.seen, head.snap, head.trusted_from);
    END IF;
    cursor_ := head.cursor;
    FOR step IN 1 .. steps_max LOOP
        SELECT min(k.lane_seq), max(k.lane_seq) INTO next_seq, last_seq
          FROM (SELECT r.lane_seq FROM awa.ready_entries r
                 WHERE r.lane_id = p_lane AND r.lane_seq >= cursor_ ORDER BY r.lane_seq LIMIT CASE WHEN step = 1 THEN 1 ELSE rows_max END) k;
        EXIT WHEN next_seq IS NULL;
        SELECT t.last_seq INTO dead_to FROM awa.ready_tombstones t
         WHERE t.lane_id = p_lane AND t.first_seq <= next_seq ORDER BY t.first_seq DESC LIMIT 1;
        EXIT WHEN dead_to IS NULL OR dead_to < next_seq;
        IF dead_to < last_seq THEN
            dead := awa.tombstones_within(p_lane, int8multirange(int8range(next_seq, last_seq + 1)));
            SELECT min(r.lane_seq) INTO live FROM awa.ready_entries r
             WHERE r.lane_id = p_lane AND r.lane_seq >= next_seq AND r.lane_seq <= last_seq AND NOT r.lane_seq <@ dead;
            dead_to := coalesce(live - 1, last_seq);
        END IF;
        cursor_ := dead_to + 1;
        EXIT WHEN live IS NOT NULL;
    END LOOP;
    PERFORM awa.pause_point('advance.after_walk');
    IF cursor_ = head.cursor THEN RETURN false; END IF;
    INSERT INTO awa.lane_claims (claim_no, cursor, claimed_at, total, lane_id, jobs, slot, seqs, seen, owed)
    VALUES (head.claim_no + 1, cursor_, clock_timestamp(), head.total, p_lane, 0, head.current_slot, '{}', head.snap, owed);
    RETURN true;
END $$;
