-- The newest claim row of each lane, its claim head; a lane that nobody claimed from yet has cursor 0 and no `seen`.
-- first_waiting: no row below it waits, but for owed and late ones. last_dead: beyond it no position of the lane is tombstoned, so most rows need no look at tombstones.
-- index: lane_claims (lane_id, claim_no), ready_tombstones (lane_id, first_seq)
CREATE OR REPLACE VIEW awa.lane_heads AS
SELECT l.lane_id, l.queue, l.priority, l.enqueue_shard, l.effective_priority,
       coalesce(h.claim_no, 0) AS claim_no, coalesce(h.cursor, 0) AS cursor, h.seen,
       coalesce(h.owed, '{}') AS owed, h.claimed_at, h.slot,
       coalesce((SELECT t.last_seq FROM awa.ready_tombstones t WHERE t.lane_id = l.lane_id
                  ORDER BY t.first_seq DESC LIMIT 1), -1) AS last_dead, coalesce(h.total, 0) AS total,
       coalesce(h.cursor, 0) AS first_waiting
  FROM awa.lanes l
  LEFT JOIN LATERAL (SELECT c.* FROM awa.lane_claims c WHERE c.lane_id = l.lane_id
                      ORDER BY c.claim_no DESC LIMIT 1) h ON true;

-- Joins neighbouring ranges between which the lane has no row, so that a head with many owed positions stays small.
-- A row of an open transaction in between does no harm: it comes late, is owed too, and is served once.
-- index: ready_entries (lane_id, lane_seq)
-- bound: one probe a range
CREATE OR REPLACE FUNCTION awa.join_ranges(p_lane int, p_ranges int8multirange) RETURNS int8multirange
LANGUAGE sql VOLATILE AS $$
    WITH ranges AS (
        SELECT lower(g) AS first, upper(g) AS past, lag(upper(g)) OVER (ORDER BY g) AS previous_past
          FROM unnest(p_ranges) g
    ), marked AS (
        SELECT first, past,
               previous_past IS NULL OR EXISTS (
                   SELECT FROM awa.ready_entries r
                    WHERE r.lane_id = p_lane AND r.lane_seq >= previous_past AND r.lane_seq < first) AS starts
          FROM ranges
    ), islands AS (
        SELECT first, past, count(*) FILTER (WHERE starts) OVER (ORDER BY first) AS island FROM marked
    ), joined AS (
        SELECT int8range(min(first), max(past)) AS span FROM islands GROUP BY island
    )
    SELECT coalesce(range_agg(span), '{}') FROM joined;
$$;
