-- Takes up to p_limit positions of one lane and appends the lane's new head. The heart of the engine: the order
-- of the statements is the proof, see docs/explain/engine.md before touching it.
-- moves: available -> running
-- index: lane_claims (lane_id, claim_no); ready_entries (lane_id, lane_seq) and (lane_id, txid, lane_seq); ready_tombstones (lane_id, first_seq)
-- bound: p_limit positions served, 5,000 positions walked past, plus what came late once
-- params: lane, limit, runtime, claimed_at, deadline_at; answers the claim's number, the positions, how many, and
--         whether more may be had at once. Must be called through awa.claim (planner settings).
CREATE OR REPLACE FUNCTION awa.claim_lane(
    p_lane int, p_limit int, p_runtime uuid, p_claimed_at timestamptz, p_deadline_at timestamptz,
    OUT o_claim_no bigint, OUT o_seqs int8multirange, OUT o_jobs int, OUT o_more boolean)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    walk_limit constant int := 5000;      -- rows walked past in one call when tombstones are among them
    renew_after constant bigint := 5000;  -- positions handed out before the head of an idle lane is renewed
    high bigint;          -- the last position handed out, read before the snapshot
    snap pg_snapshot;     -- decides everything this claim decides
    head_cursor bigint;
    head_seen pg_snapshot;
    head_owed int8multirange;
    head_total bigint;
    trusted bigint;
    ids_until xid8;       -- the newest transaction id noted in the ring
    open_slot smallint;
    due int8multirange := '{}';   -- below the cursor and still to be served: owed and late
    taken int8multirange := '{}';
    owed int8multirange := '{}';
    found record;
    cursor_ bigint;
    window_end bigint;
    has_tombstones boolean;
    at_limit boolean := false;
    keyed_ int8multirange;
BEGIN
    o_jobs := 0; o_seqs := '{}'; o_more := false;
    IF NOT pg_try_advisory_xact_lock(4712, p_lane) THEN RETURN; END IF;
    -- Before the snapshot: whoever holds a position up to `high` has its transaction id already, so a row up to
    -- there that the snapshot does not show will be known as late.
    SELECT CASE WHEN p.is_called THEN p.last_value ELSE p.last_value - 1 END INTO high FROM awa.job_positions p;
    PERFORM awa.pause_point('claim.before_snapshot');
    -- A new statement: head and snapshot together, after the lane's lock and before any row lock.
    SELECT h.claim_no, h.cursor, h.seen, h.owed, h.total, g.trusted_from, g.last_txid, g.current_slot, pg_current_snapshot()
      INTO o_claim_no, head_cursor, head_seen, head_owed, head_total, trusted, ids_until, open_slot, snap
      FROM awa.ring g
      LEFT JOIN LATERAL (SELECT c.claim_no, c.cursor, c.seen, c.owed, c.total FROM awa.lane_claims c
                          WHERE c.lane_id = p_lane ORDER BY c.claim_no DESC LIMIT 1) h ON true;
    PERFORM awa.pause_point('claim.after_snapshot');
    IF pg_snapshot_xmax(snap) < ids_until THEN
        RAISE EXCEPTION 'transaction ids went backwards: this database was restored into another cluster'
            USING ERRCODE = 'AW002', HINT = 'Run: awa migrate';
    END IF;
    IF o_claim_no IS NULL THEN
        o_claim_no := 0; head_cursor := 0; head_seen := snap; head_owed := '{}'; head_total := 0;
    ELSE
        due := head_owed + awa.late_positions(p_lane, head_cursor, head_seen, snap, trusted);
    END IF;
    o_claim_no := o_claim_no + 1;
    cursor_ := head_cursor;

    IF NOT isempty(due) THEN
        SELECT * INTO found FROM awa.take_due(p_lane, due, p_limit, snap, trusted);
        taken := found.o_taken; owed := found.o_left; o_jobs := found.o_count;
        at_limit := o_jobs >= p_limit;
    END IF;

    IF NOT at_limit THEN
        -- Tombstoned stretches are passed without locks: a committed tombstone is final.
        SELECT coalesce((SELECT t.last_seq FROM awa.ready_tombstones t WHERE t.lane_id = p_lane
                          ORDER BY t.first_seq DESC LIMIT 1), -1) >= head_cursor INTO has_tombstones;
        window_end := 9223372036854775807;
        IF has_tombstones THEN
            cursor_ := awa.pass_tombstones(p_lane, cursor_);
            SELECT coalesce(min(w.lane_seq), window_end) INTO window_end
              FROM (SELECT r.lane_seq FROM awa.ready_entries r
                     WHERE r.lane_id = p_lane AND r.lane_seq >= cursor_ ORDER BY r.lane_seq OFFSET walk_limit LIMIT 1) w;
        END IF;
        SELECT coalesce(range_agg(int8range(q.lane_seq, q.lane_seq + 1)), '{}') AS seqs, count(*)::int AS n,
               max(q.lane_seq) AS last INTO found
          FROM (SELECT r.lane_seq FROM awa.ready_entries r
                 WHERE r.lane_id = p_lane AND r.lane_seq >= cursor_ AND r.lane_seq < window_end
                   AND (r.lane_seq < trusted OR pg_visible_in_snapshot(r.txid, snap))
                   AND (NOT has_tombstones OR coalesce((SELECT t.last_seq FROM awa.ready_tombstones t WHERE t.slot = r.slot AND t.lane_id = p_lane AND t.first_seq <= r.lane_seq
                                   ORDER BY t.first_seq DESC LIMIT 1), -1) < r.lane_seq)
                 ORDER BY r.lane_seq LIMIT p_limit - o_jobs FOR UPDATE SKIP LOCKED) q;
        o_jobs := o_jobs + found.n;
        taken := taken + found.seqs;
        IF o_jobs >= p_limit THEN
            at_limit := true;
            window_end := found.last + 1;
        ELSIF window_end < 9223372036854775807 THEN
            o_more := true;
        ELSE
            window_end := greatest(coalesce(found.last, 0) + 1, high + 1, cursor_);
        END IF;
        IF o_jobs > 0 OR owed <> head_owed OR cursor_ > head_cursor OR o_more OR window_end - head_cursor >= renew_after THEN
            PERFORM awa.pause_point('claim.after_locks');
            -- What the snapshot shows in the window and someone else had locked is owed from now on.
            owed := owed + awa.passed_over(p_lane, cursor_, window_end, found.seqs, found.n, snap, trusted);
            cursor_ := window_end;
        END IF;
    END IF;

    IF NOT isempty(taken) THEN
        PERFORM awa.pause_point('claim.before_tombstones');
        -- A new statement, after the row locks: a mover that committed before they were granted left its tombstones.
        taken := taken - awa.tombstones_within(p_lane, taken);
        o_more := o_more OR (at_limit AND isempty(taken));
        o_jobs := awa.positions_in(taken);
    END IF;
    o_seqs := taken;
    IF o_jobs = 0 AND cursor_ = head_cursor AND owed = head_owed THEN RETURN; END IF;

    IF o_jobs = 0 THEN
        INSERT INTO awa.lane_claims (claim_no, cursor, claimed_at, total, lane_id, jobs, slot, seqs, seen, owed)
        VALUES (o_claim_no, cursor_, p_claimed_at, head_total, p_lane, 0, open_slot, '{}', snap, owed);
    ELSE
        -- Keyed: whose end has more to do than append a closure. Noted here, where the rows are read anyway, so that
        -- awa.complete need not read them.
        WITH head AS (
            INSERT INTO awa.lane_claims AS c
                   (claim_no, cursor, claimed_at, deadline_at, total, runtime_id, lane_id, jobs, slot, seqs, seen, owed, keyed)
            SELECT o_claim_no, cursor_, p_claimed_at, p_deadline_at, head_total + o_jobs, p_runtime, p_lane, count(*), k.slot,
                   range_agg(int8range(k.lane_seq, k.lane_seq + 1)), snap, owed,
                   range_agg(int8range(k.lane_seq, k.lane_seq + 1)) FILTER (WHERE k.keyed)
              FROM (SELECT r.slot, r.lane_seq, r.keyed FROM unnest(taken) g CROSS JOIN LATERAL (
                       SELECT e.slot, e.lane_seq, e.unique_key IS NOT NULL OR e.concurrency_key IS NOT NULL AS keyed FROM awa.ready_entries e
                        WHERE e.lane_id = p_lane AND e.lane_seq >= lower(g) AND e.lane_seq < upper(g) OFFSET 0) r) k
             GROUP BY k.slot
            RETURNING c.keyed
        )
        SELECT range_agg(h.keyed) INTO keyed_ FROM head h;
        IF keyed_ IS NOT NULL THEN PERFORM awa.follow_claimed(p_lane, keyed_); END IF;
    END IF;
END $$;
