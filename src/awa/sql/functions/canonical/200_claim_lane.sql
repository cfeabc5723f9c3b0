-- Takes up to p_limit jobs of one lane: a guarded update of the rows that nobody else has locked, in order.
-- moves: available -> running
-- index: ready_entries_waiting
-- bound: p_limit rows, and the locked ones among them
-- params: lane, limit, runtime, claimed_at, deadline_at; answers the claim's number, the positions, how many, and whether
--         more may be had at once. Must be called through awa.claim (planner settings).
-- SKIP LOCKED looks at the newest version of a row before it takes it, so a row that was claimed, moved or cancelled since
-- this statement's snapshot is passed by.
CREATE OR REPLACE FUNCTION awa.claim_lane(
    p_lane int, p_limit int, p_runtime uuid, p_claimed_at timestamptz, p_deadline_at timestamptz,
    OUT o_claim_no bigint, OUT o_seqs int8multirange, OUT o_jobs int, OUT o_more boolean)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    number bigint;
    taken bigint[];
    keyed_ int8multirange;
BEGIN
    o_more := false; o_seqs := '{}'; o_jobs := 0;
    PERFORM awa.pause_point('claim.before_snapshot');
    SELECT array_agg(k.lane_seq) INTO taken
      FROM (SELECT r.lane_seq FROM awa.ready_entries r
             WHERE r.lane_id = p_lane AND r.claim_id IS NULL
             ORDER BY r.lane_seq LIMIT p_limit FOR UPDATE SKIP LOCKED) k;
    IF taken IS NULL THEN RETURN; END IF;
    PERFORM awa.pause_point('claim.after_locks');
    number := nextval('awa.claim_numbers');
    o_claim_no := number;
    UPDATE awa.ready_entries r
       SET claim_id = number, attempted_at = p_claimed_at, deadline_at = p_deadline_at, runtime_id = p_runtime
     WHERE r.lane_id = p_lane AND r.lane_seq = ANY (taken) AND r.claim_id IS NULL;
    GET DIAGNOSTICS o_jobs = ROW_COUNT;
    SELECT range_agg(int8range(r.lane_seq, r.lane_seq + 1)),
           range_agg(int8range(r.lane_seq, r.lane_seq + 1)) FILTER (WHERE awa.is_keyed(r)) INTO o_seqs, keyed_
      FROM awa.ready_entries r WHERE r.lane_id = p_lane AND r.lane_seq = ANY (taken) AND r.claim_id = number;
    INSERT INTO awa.limited_claims (lane_id, jobs, claimed_at)
    SELECT p_lane, o_jobs, p_claimed_at FROM awa.lanes l JOIN awa.queue_meta m ON m.queue = l.queue
     WHERE l.lane_id = p_lane AND m.rate_limit IS NOT NULL;
    IF keyed_ IS NOT NULL THEN PERFORM awa.follow_claimed(p_lane, keyed_); END IF;
END $$;
