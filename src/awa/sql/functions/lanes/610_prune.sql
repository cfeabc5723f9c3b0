-- Gives the space of one closed slot back by TRUNCATE, if everything in it is over; a step a call, answers what came of it.
-- moves: completed jobs end here; live rows are carried to the current slot at their lane and position
-- index: ready_entries (lane_id, txid, lane_seq) under the lock
-- bound: one slot; p_carry_limit live rows are carried, more keep the slot
-- params: slot, seconds that completed jobs are kept, how many live rows may be carried, the time (null: now).
--         Answers pruned | more (a step is done, ask again in another transaction) | pinned (a reader with an old snapshot
--         must end first) | empty | current | young | live | busy
-- Two transactions, because TRUNCATE takes rows away from snapshots that should still show them: the first retires the
-- slot (nothing in it is live any more), the second empties it when every reader's snapshot shows that.
CREATE OR REPLACE FUNCTION awa.prune_slot(
    p_slot int, p_keep_s float8, p_carry_limit int, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE SET lock_timeout = '50ms' AS $$
DECLARE
    -- The claims that a rate limit still counts are kept, too.
    keep_from constant timestamptz := coalesce(p_now, clock_timestamp()) - make_interval(
        secs => greatest(p_keep_s, (SELECT max(m.rate_period_s) FROM awa.queue_meta m)));
    is_empty boolean;
BEGIN
    PERFORM awa.require_read_committed();
    -- First, because reading the tables keeps every other prune out of them: what is asked next stays as it is.
    is_empty := awa.slot_is_empty(p_slot);
    IF EXISTS (SELECT FROM awa.ring g WHERE g.current_slot = p_slot) THEN RETURN 'current'; END IF;
    IF EXISTS (SELECT FROM awa.ring_slots s WHERE s.slot = p_slot AND s.retired_txid IS NOT NULL) THEN
        RETURN awa.empty_slot(p_slot);
    END IF;
    IF is_empty THEN RETURN 'empty'; END IF;
    IF awa.has_closures_since(p_slot, keep_from) THEN RETURN 'young'; END IF;
    PERFORM awa.pause_point('prune.before_count');
    RETURN awa.retire_slot(p_slot, keep_from, p_carry_limit);
EXCEPTION WHEN lock_not_available THEN
    RETURN 'busy';
END $$;

-- The first half: carries what is live and says that the rest of the slot is over.
-- Counted before the lock, which is then held only for what is newer. A row once tombstoned or closed stays so, so under
-- the lock only the rows that were live and those of later transactions can matter.
CREATE OR REPLACE FUNCTION awa.retire_slot(p_slot int, p_keep_from timestamptz, p_carry_limit int) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    heads_limit constant int := 500;   -- lanes locked at once; a server has room for some thousand locks
    at_count pg_snapshot;
    live bigint[];
    live_lanes int[];
    lanes int[];
BEGIN
    at_count := pg_current_snapshot();
    live := awa.live_positions(p_slot, p_carry_limit + 1);
    IF cardinality(live) > p_carry_limit THEN RETURN 'live'; END IF;
    -- What ended between the two looks is neither live nor was it seen as young.
    IF awa.has_closures_since(p_slot, p_keep_from) THEN RETURN 'young'; END IF;
    SELECT array_agg(r.lane_seq), array_agg(r.lane_id) INTO live, live_lanes
      FROM awa.ready_entries r WHERE r.slot = p_slot AND r.lane_seq = ANY (live);
    PERFORM awa.pause_point('prune.after_count');
    -- The locks of the lanes whose head lives here first, as a claim does, then the tables: a head must not be written
    -- while it is carried. Busy lanes have their heads elsewhere and are not waited for.
    lanes := awa.lanes_headed_in(p_slot, heads_limit + 1);
    PERFORM pg_advisory_xact_lock(4712, u.lane_id) FROM unnest(lanes[:heads_limit]) u(lane_id);
    IF cardinality(lanes) > heads_limit THEN
        lanes := lanes[:heads_limit];
        IF NOT lanes <@ awa.lanes_headed_in(p_slot, NULL) THEN RETURN 'busy'; END IF;
        PERFORM awa.carry_heads(p_slot, lanes);
        RETURN 'more';
    END IF;
    PERFORM awa.close_tables(p_slot);
    IF NOT awa.lanes_headed_in(p_slot, NULL) <@ lanes THEN RETURN 'busy'; END IF;
    IF awa.has_newer_rows(p_slot, at_count) THEN RETURN 'busy'; END IF;
    -- What was live at the count may have ended since, and is kept as long as everything else.
    IF live IS NOT NULL AND awa.has_closures_since(p_slot, p_keep_from) THEN RETURN 'young'; END IF;
    PERFORM awa.carry_live(p_slot, live_lanes, live);
    PERFORM awa.carry_heads(p_slot, awa.lanes_headed_in(p_slot, NULL));
    UPDATE awa.ring_slots s SET retired_txid = pg_current_xact_id(), seen_at = NULL, counted = at_count WHERE s.slot = p_slot;
    RETURN 'more';
END $$;

-- The second half: empties a retired slot when no snapshot is left that would miss what was carried.
CREATE OR REPLACE FUNCTION awa.empty_slot(p_slot int) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    retired awa.ring_slots;
BEGIN
    SELECT * INTO retired FROM awa.ring_slots s WHERE s.slot = p_slot;
    IF retired.retired_txid = pg_current_xact_id_if_assigned() THEN RETURN 'more'; END IF;
    IF retired.seen_at IS NULL THEN
        UPDATE awa.ring_slots s SET seen_at = clock_timestamp()
         WHERE s.slot = p_slot AND s.retired_txid = retired.retired_txid AND s.seen_at IS NULL;
        RETURN 'more';
    END IF;
    IF awa.is_pinned(retired.retired_txid, retired.seen_at) THEN RETURN 'pinned'; END IF;
    PERFORM awa.pause_point('prune.before_truncate');
    PERFORM awa.close_tables(p_slot);
    IF awa.has_newer_rows(p_slot, retired.counted) THEN
        -- Somebody read that this slot was open, slept, and wrote into it: it must be looked through once more. A claim
        -- can't have: what tells it which slot is open locks the slot's claims, too, and kept the slot from being retired.
        UPDATE awa.ring_slots s SET retired_txid = NULL, seen_at = NULL, counted = NULL WHERE s.slot = p_slot;
        RETURN 'more';
    END IF;
    EXECUTE format('TRUNCATE awa.ready_entries_%1$s, awa.ready_tombstones_%1$s, awa.lane_claims_%1$s, '
                   'awa.attempt_closures_%1$s', p_slot);
    UPDATE awa.ring_slots s SET retired_txid = NULL, seen_at = NULL, counted = NULL WHERE s.slot = p_slot;
    RETURN 'pruned';
END $$;

-- Keeps everybody out of a slot until the transaction ends.
-- In the order in which claims come to the tables: one that is under way goes on, and is waited for.
CREATE OR REPLACE FUNCTION awa.close_tables(p_slot int) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    EXECUTE format('LOCK TABLE awa.lane_claims_%1$s, awa.ready_entries_%1$s, awa.ready_tombstones_%1$s, '
                   'awa.attempt_closures_%1$s IN ACCESS EXCLUSIVE MODE', p_slot);
END $$;
