-- Where jobs wait in lanes: stretches of positions, with whatever was taken out of them left out or named.
-- moves: nothing
-- index: lane_claims (lane_id, claim_no); ready_tombstones (lane_id, first_seq); late: ready_entries (lane_id, txid, lane_seq)
-- bound: the lanes' heads, the tombstones past their cursors, and what came late
-- params: lanes (null: all). Answers stretches that don't overlap: every row of the lane from first_seq to below past_seq waits,
--         but for those whose position is in `dead` (null: for none)
-- Three disjoint ways to wait: past the cursor, owed, late. An operation that has moved a whole lane leaves a few large
-- tombstones behind: they are no part of any stretch, so nobody walks over what they cover. A small one costs less than the
-- look-up that a stretch of its own would, so it stays in and is named.
-- STABLE: everything is read in the snapshot of the statement that calls it. A function, for it keeps its plan for the session.
CREATE OR REPLACE FUNCTION awa.lane_stretches(p_lanes int[] DEFAULT NULL)
RETURNS TABLE (lane_id int, first_seq bigint, past_seq bigint, dead int8multirange)
LANGUAGE plpgsql STABLE ROWS 100
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    small_max constant bigint := 50;  -- positions
BEGIN
    RETURN QUERY
    WITH heads AS MATERIALIZED (
        SELECT h.lane_id, h.cursor, h.seen, h.owed, h.last_dead, g.trusted_from
          FROM awa.lane_heads h CROSS JOIN awa.ring g
         WHERE p_lanes IS NULL OR h.lane_id = ANY (p_lanes)
    ), late AS (
        SELECT k.lane_id, k.lane_seq, h.last_dead
          FROM (SELECT array_agg(h.lane_id) AS lanes, array_agg(h.cursor) AS cursors, array_agg(h.seen) AS seen, min(h.trusted_from) AS trusted_from
                  FROM heads h WHERE h.seen IS NOT NULL) g
         CROSS JOIN LATERAL awa.late_rows(g.lanes, g.cursors, g.seen, g.trusted_from) k
          JOIN heads h ON h.lane_id = k.lane_id
         WHERE NOT k.lane_seq <@ h.owed
    ), spans AS (
        SELECT h.lane_id, h.cursor AS first_seq, 9223372036854775807 AS past_seq, h.last_dead FROM heads h
        UNION ALL
        SELECT h.lane_id, lower(g), upper(g), h.last_dead FROM heads h CROSS JOIN LATERAL unnest(h.owed) g
        UNION ALL
        SELECT l.lane_id, l.lane_seq, l.lane_seq + 1, l.last_dead FROM late l
    ), fenced AS MATERIALIZED (
        SELECT s.lane_id, int8multirange(int8range(s.first_seq, s.past_seq)) AS seqs, d.large, d.small
          FROM spans s CROSS JOIN LATERAL (
               SELECT range_agg(int8range(t.first_seq, t.last_seq + 1)) FILTER (WHERE t.last_seq - t.first_seq >= small_max) AS large,
                      count(*) FILTER (WHERE t.last_seq - t.first_seq < small_max) AS small
                 FROM (SELECT i.first_seq, i.last_seq FROM awa.ready_tombstones i
                        WHERE i.lane_id = s.lane_id AND i.first_seq >= s.first_seq AND i.first_seq < s.past_seq
                       UNION ALL
                       (SELECT b.first_seq, b.last_seq FROM awa.ready_tombstones b
                         WHERE b.lane_id = s.lane_id AND b.first_seq < s.first_seq ORDER BY b.first_seq DESC LIMIT 1)) t
                WHERE s.last_dead >= s.first_seq) d
    )
    SELECT f.lane_id, lower(g), upper(g),
           CASE WHEN f.small > 0 THEN (
               SELECT range_agg(int8range(t.first_seq, t.last_seq + 1))
                 FROM (SELECT i.first_seq, i.last_seq FROM awa.ready_tombstones i
                        WHERE i.lane_id = f.lane_id AND i.first_seq >= lower(g) AND i.first_seq < upper(g)
                       UNION ALL
                       (SELECT b.first_seq, b.last_seq FROM awa.ready_tombstones b
                         WHERE b.lane_id = f.lane_id AND b.first_seq < lower(g) ORDER BY b.first_seq DESC LIMIT 1)) t) END
      FROM fenced f CROSS JOIN LATERAL unnest(CASE WHEN f.large IS NULL THEN f.seqs ELSE f.seqs - f.large END) g;
END $$;

-- Positions below the lanes' cursors that came into sight after the cursor had passed, owed ones among them.
-- moves: nothing
-- index: ready_entries (lane_id, txid, lane_seq), and never another: it alone has the order, and nothing may be sorted
-- bound: the rows of transactions that the newest claim of their lane did not see; below the cursor and past it, the latter unfetched
-- params: lanes with their cursors and the snapshots of their newest claims (arrays of one length), where trust in txids begins
-- Of the transactions that ran then one probe each, and all that came later: one that stays open for hours costs a probe, not
-- its hours. Without statistics, or with old ones, the planner would rather read the lane's history up to the cursor.
CREATE OR REPLACE FUNCTION awa.late_rows(p_lanes int[], p_cursors bigint[], p_seen pg_snapshot[], p_trusted bigint)
RETURNS TABLE (lane_id int, lane_seq bigint)
LANGUAGE plpgsql STABLE ROWS 10
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_incremental_sort = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT h.lane_id, k.lane_seq
      FROM unnest(p_lanes, p_cursors, p_seen) h(lane_id, cursor, seen)
     CROSS JOIN LATERAL pg_snapshot_xip(h.seen) x
     CROSS JOIN LATERAL (
           SELECT r.lane_seq FROM awa.ready_entries r
            WHERE r.lane_id = h.lane_id AND r.txid = x AND r.lane_seq < h.cursor AND r.lane_seq >= p_trusted
            ORDER BY r.lane_id, r.txid, r.lane_seq) k
    UNION ALL
    SELECT h.lane_id, k.lane_seq
      FROM unnest(p_lanes, p_cursors, p_seen) h(lane_id, cursor, seen)
     CROSS JOIN LATERAL (
           SELECT r.lane_seq FROM awa.ready_entries r
            WHERE r.lane_id = h.lane_id AND r.txid >= pg_snapshot_xmax(h.seen) AND r.lane_seq < h.cursor AND r.lane_seq >= p_trusted
            ORDER BY r.lane_id, r.txid, r.lane_seq) k;
END $$;
