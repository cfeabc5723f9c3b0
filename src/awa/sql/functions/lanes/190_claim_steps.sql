-- The steps of a claim that have a name of their own. Each is called in a statement of its own by awa.claim_lane.

-- Rows below the cursor whose transactions were running when it passed and had ended by the snapshot.
-- index: ready_entries (lane_id, txid, lane_seq)
-- bound: what came late; rows of transactions that still run are never walked, however many they are
-- Ended: those of `seen`'s list that the snapshot shows, and whatever lies between the ids that still run above it.
CREATE OR REPLACE FUNCTION awa.late_positions(
    p_lane int, p_cursor bigint, p_seen pg_snapshot, p_snap pg_snapshot, p_trusted bigint) RETURNS int8multirange
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    ended xid8[];
    late int8multirange := '{}';
    ranges int;
BEGIN
    SELECT coalesce(array_agg(x), '{}') INTO ended
      FROM pg_snapshot_xip(p_seen) x WHERE pg_visible_in_snapshot(x, p_snap);
    IF ended = '{}' AND pg_snapshot_xmax(p_seen) = pg_snapshot_xmax(p_snap) THEN RETURN late; END IF;
    WITH running AS (
        SELECT (pg_snapshot_xmax(p_seen)::text::bigint - 1)::text::xid8 AS x
        UNION SELECT x FROM pg_snapshot_xip(p_snap) x WHERE x >= pg_snapshot_xmax(p_seen)
        UNION SELECT pg_snapshot_xmax(p_snap)
    ), gaps AS (
        SELECT x AS after, lead(x) OVER (ORDER BY x) AS before FROM running
    ), rows AS (
        SELECT r.lane_seq FROM unnest(ended) e CROSS JOIN LATERAL (
            SELECT k.lane_seq FROM awa.ready_entries k
             WHERE k.lane_id = p_lane AND k.txid = e AND k.lane_seq < p_cursor AND k.lane_seq >= p_trusted OFFSET 0) r
        UNION ALL
        SELECT r.lane_seq FROM gaps g CROSS JOIN LATERAL (
            SELECT k.lane_seq FROM awa.ready_entries k
             WHERE k.lane_id = p_lane AND k.txid > g.after AND k.txid < g.before
               AND k.lane_seq < p_cursor AND k.lane_seq >= p_trusted OFFSET 0) r
    )
    SELECT coalesce(range_agg(int8range(lane_seq, lane_seq + 1)), '{}') INTO late FROM rows;
    IF isempty(late) THEN RETURN late; END IF;
    SELECT count(*) INTO ranges FROM (SELECT FROM unnest(late) LIMIT 65) few;
    RETURN CASE WHEN ranges > 64 THEN awa.join_ranges(p_lane, late) ELSE late END;
END $$;

-- Locks the first p_limit of the positions that are due; answers them and what stays due.
-- index: ready_entries (lane_id, lane_seq)
-- bound: p_limit rows, and the locked or tombstoned ones among them
CREATE OR REPLACE FUNCTION awa.take_due(
    p_lane int, p_due int8multirange, p_limit int, p_snap pg_snapshot, p_trusted bigint,
    OUT o_taken int8multirange, OUT o_left int8multirange, OUT o_count int)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    examined bigint;   -- every due position below it was looked at
    passed int8multirange;
BEGIN
    SELECT coalesce(range_agg(int8range(q.lane_seq, q.lane_seq + 1)), '{}'), count(*), max(q.lane_seq) + 1
      INTO o_taken, o_count, examined
      FROM (SELECT k.lane_seq FROM unnest(p_due) g CROSS JOIN LATERAL (
                SELECT r.lane_seq FROM awa.ready_entries r
                 WHERE r.lane_id = p_lane AND r.lane_seq >= lower(g) AND r.lane_seq < upper(g)
                   AND (r.lane_seq < p_trusted OR pg_visible_in_snapshot(r.txid, p_snap))
                   AND coalesce((SELECT t.last_seq FROM awa.ready_tombstones t WHERE t.slot = r.slot AND t.lane_id = p_lane AND t.first_seq <= r.lane_seq
                                   ORDER BY t.first_seq DESC LIMIT 1), -1) < r.lane_seq
                 ORDER BY r.lane_seq FOR UPDATE SKIP LOCKED) k LIMIT p_limit) q;
    PERFORM awa.pause_point('claim.after_due_locks');
    IF o_count < p_limit THEN examined := upper(p_due); END IF;
    o_left := p_due * int8multirange(int8range(examined, NULL));
    passed := p_due * int8multirange(int8range(NULL, examined)) - o_taken;
    IF isempty(passed) THEN RETURN; END IF;
    -- A new statement: what was merely locked stays due, what has no live row left is forgotten.
    SELECT o_left + coalesce(range_agg(int8range(k.lane_seq, k.lane_seq + 1)), '{}') INTO o_left
      FROM unnest(passed) g CROSS JOIN LATERAL (
          SELECT r.lane_seq FROM awa.ready_entries r
           WHERE r.lane_id = p_lane AND r.lane_seq >= lower(g) AND r.lane_seq < upper(g)
             AND (r.lane_seq < p_trusted OR pg_visible_in_snapshot(r.txid, p_snap))
             AND coalesce((SELECT t.last_seq FROM awa.ready_tombstones t WHERE t.slot = r.slot AND t.lane_id = p_lane AND t.first_seq <= r.lane_seq
                                   ORDER BY t.first_seq DESC LIMIT 1), -1) < r.lane_seq OFFSET 0) k;
END $$;

-- Moves a cursor over tombstone ranges that begin right at the lane's next row.
-- index: ready_entries (lane_id, lane_seq), ready_tombstones (lane_id, first_seq)
-- bound: 200 ranges
CREATE OR REPLACE FUNCTION awa.pass_tombstones(p_lane int, p_cursor bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    next_seq bigint;
    last_dead bigint;
BEGIN
    FOR step IN 1 .. 200 LOOP
        SELECT r.lane_seq INTO next_seq FROM awa.ready_entries r
         WHERE r.lane_id = p_lane AND r.lane_seq >= p_cursor ORDER BY r.lane_seq LIMIT 1;
        EXIT WHEN next_seq IS NULL;
        SELECT t.last_seq INTO last_dead FROM awa.ready_tombstones t
         WHERE t.lane_id = p_lane AND t.first_seq <= next_seq ORDER BY t.first_seq DESC LIMIT 1;
        EXIT WHEN last_dead IS NULL OR last_dead < next_seq;
        p_cursor := last_dead + 1;
    END LOOP;
    RETURN p_cursor;
END $$;

-- Positions of a window that the snapshot shows, that are not tombstoned, and that were not taken.
-- index: ready_entries (lane_id, lane_seq)
-- bound: the window
CREATE OR REPLACE FUNCTION awa.passed_over(
    p_lane int, p_from bigint, p_to bigint, p_taken int8multirange, p_taken_count int, p_snap pg_snapshot, p_trusted bigint)
RETURNS int8multirange
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    shown int8multirange;
    shown_count bigint;
BEGIN
    SELECT count(*) INTO shown_count FROM awa.ready_entries r
     WHERE r.lane_id = p_lane AND r.lane_seq >= p_from AND r.lane_seq < p_to
       AND (r.lane_seq < p_trusted OR pg_visible_in_snapshot(r.txid, p_snap));
    IF shown_count = p_taken_count THEN RETURN '{}'; END IF;
    SELECT coalesce(range_agg(int8range(r.lane_seq, r.lane_seq + 1)), '{}') INTO shown FROM awa.ready_entries r
     WHERE r.lane_id = p_lane AND r.lane_seq >= p_from AND r.lane_seq < p_to
       AND (r.lane_seq < p_trusted OR pg_visible_in_snapshot(r.txid, p_snap))
       AND coalesce((SELECT t.last_seq FROM awa.ready_tombstones t WHERE t.slot = r.slot AND t.lane_id = p_lane AND t.first_seq <= r.lane_seq
                                   ORDER BY t.first_seq DESC LIMIT 1), -1) < r.lane_seq;
    RETURN shown - p_taken;
END $$;

-- The tombstone ranges that touch any of these positions.
-- index: ready_tombstones (lane_id, first_seq)
-- bound: per range, those that begin inside it and the one before
CREATE OR REPLACE FUNCTION awa.tombstones_within(p_lane int, p_positions int8multirange) RETURNS int8multirange
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    dead int8multirange;
BEGIN
    IF NOT EXISTS (SELECT FROM awa.ready_tombstones t WHERE t.lane_id = p_lane AND t.first_seq < upper(p_positions)) THEN
        RETURN '{}';
    END IF;
    SELECT coalesce(range_agg(int8range(t.first_seq, t.last_seq + 1)), '{}') INTO dead
      FROM unnest(p_positions) g CROSS JOIN LATERAL (
          SELECT i.first_seq, i.last_seq FROM awa.ready_tombstones i
           WHERE i.lane_id = p_lane AND i.first_seq >= lower(g) AND i.first_seq < upper(g)
          UNION ALL
          (SELECT b.first_seq, b.last_seq FROM awa.ready_tombstones b
            WHERE b.lane_id = p_lane AND b.first_seq < lower(g) ORDER BY b.first_seq DESC LIMIT 1)) t;
    RETURN dead;
END $$;
