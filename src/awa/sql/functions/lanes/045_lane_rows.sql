-- The rows of lanes with what a scan asks of them. Whether they wait, heads and tombstones say.
-- index: those of ready_entries
CREATE OR REPLACE VIEW awa.lane_rows AS
SELECT r.lane_id, r.lane_seq, r.slot, r.txid, r.job_id, r.kind, r.attempt, r.created_at, r.run_at, r.args, r.tags, r.errors,
       true AS unclaimed
  FROM awa.ready_entries r;

-- The tombstone ranges that touch a stretch of a lane; null for none.
-- index: ready_tombstones (lane_id, first_seq)
-- bound: the ranges that begin in it, and one more
CREATE OR REPLACE FUNCTION awa.dead_between(p_lane int, p_first bigint, p_last bigint) RETURNS int8multirange
LANGUAGE sql VOLATILE AS $$
    SELECT range_agg(int8range(t.first_seq, t.last_seq + 1))
      FROM (SELECT i.first_seq, i.last_seq FROM awa.ready_tombstones i
             WHERE i.lane_id = p_lane AND i.first_seq >= p_first AND i.first_seq <= p_last
            UNION ALL
            (SELECT k.first_seq, k.last_seq FROM awa.ready_tombstones k
              WHERE k.lane_id = p_lane AND k.first_seq < p_first ORDER BY k.first_seq DESC LIMIT 1)) t;
$$;

-- Each lane from which something was claimed, and the position below which everything was that was ever claimed there. The
-- cursor of the newest claim that served somebody: later heads may have passed what was moved away, and no more.
-- index: lane_claims (lane_id, claim_no)
CREATE OR REPLACE VIEW awa.lane_passed AS
SELECT j.lane_id, j.queue, j.priority, j.enqueue_shard, k.cursor AS passed_below
  FROM awa.lanes j CROSS JOIN LATERAL (
       SELECT c.cursor FROM awa.lane_claims c WHERE c.lane_id = j.lane_id AND c.jobs > 0 ORDER BY c.claim_no DESC LIMIT 1) k;

-- The rows that whoever wants waiting jobs locks first; which of them wait, heads and tombstones say afterwards.
-- index: those of ready_entries
CREATE OR REPLACE VIEW awa.lane_candidates AS
SELECT r.lane_id, r.lane_seq, r.slot, r.txid, r.job_id FROM awa.ready_entries r;
