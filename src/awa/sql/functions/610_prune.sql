-- Gives the space of one closed slot back by TRUNCATE, if everything in it is over; answers what came of it.
-- moves: completed jobs end here; live rows are carried to the current slot at their lane and position
-- index: ready_entries (lane_id, txid, lane_seq) under the lock
-- bound: one slot; p_carry_limit live rows are carried, more keep the slot
-- params: slot, seconds that completed jobs are kept, how many live rows may be carried, the time (null: now).
--         Answers pruned | empty | current | young | live | busy
-- Counted before the lock, which is then held only for what is newer. A row once tombstoned or closed stays so, so under
-- the lock only the rows that were live and those of later transactions can matter.
CREATE OR REPLACE FUNCTION awa.prune_slot(
    p_slot int, p_keep_s float8, p_carry_limit int, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE SET lock_timeout = '50ms' AS $$
DECLARE
    keep_from constant timestamptz := coalesce(p_now, clock_timestamp()) - make_interval(secs => p_keep_s);
    counted pg_snapshot;
    live bigint[];
    lanes int[];
BEGIN
    PERFORM awa.require_read_committed();
    IF awa.slot_is_empty(p_slot) THEN RETURN 'empty'; END IF;
    IF EXISTS (SELECT FROM awa.ring g WHERE g.current_slot = p_slot) THEN RETURN 'current'; END IF;
    IF awa.has_closures_since(p_slot, keep_from) THEN RETURN 'young'; END IF;
    counted := pg_current_snapshot();
    live := awa.live_positions(p_slot, p_carry_limit + 1);
    IF cardinality(live) > p_carry_limit THEN RETURN 'live'; END IF;
    PERFORM awa.pause_point('prune.after_count');
    -- The locks of the lanes whose head lives here first, as a claim does, then the tables: a head must not be written
    -- while it is carried. Busy lanes have their heads elsewhere and are not waited for.
    SELECT coalesce(array_agg(h.lane_id ORDER BY h.lane_id), '{}') INTO lanes FROM awa.lane_heads h WHERE h.slot = p_slot;
    BEGIN
        PERFORM pg_advisory_xact_lock(4712, u.lane_id) FROM unnest(lanes) u(lane_id);
        -- In the order in which claims come to them: one that is under way goes on, and is waited for.
        EXECUTE format('LOCK TABLE awa.lane_claims_%1$s, awa.ready_entries_%1$s, awa.ready_tombstones_%1$s, '
                       'awa.attempt_closures_%1$s IN ACCESS EXCLUSIVE MODE', p_slot);
    EXCEPTION WHEN lock_not_available THEN
        RETURN 'busy';
    END;
    IF EXISTS (SELECT FROM awa.lane_heads h WHERE h.slot = p_slot AND h.lane_id <> ALL (lanes)) THEN RETURN 'busy'; END IF;
    IF awa.has_newer_rows(p_slot, counted) THEN RETURN 'busy'; END IF;
    -- What was live at the count may have ended since, and is kept as long as everything else.
    IF live <> '{}' AND awa.has_closures_since(p_slot, keep_from) THEN RETURN 'young'; END IF;
    PERFORM awa.carry_live(p_slot, live);
    PERFORM awa.carry_heads(p_slot);
    EXECUTE format('TRUNCATE awa.ready_entries_%1$s, awa.ready_tombstones_%1$s, awa.lane_claims_%1$s, '
                   'awa.attempt_closures_%1$s', p_slot);
    RETURN 'pruned';
END $$;

-- Positions of a slot that are waiting or running: neither tombstoned nor closed.
-- index: reads the slot
-- bound: p_limit answered
-- VOLATILE, so that it sees what its caller's earlier statements could not.
CREATE OR REPLACE FUNCTION awa.live_positions(p_slot int, p_limit int) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE SET enable_nestloop = off AS $$
DECLARE
    ready bigint;
    over bigint;
    live bigint[];
BEGIN
    -- Counting tells the usual case without looking at a row twice.
    SELECT (SELECT count(*) FROM awa.ready_entries r WHERE r.slot = p_slot),
           (SELECT coalesce(sum(x.jobs), 0) FROM awa.attempt_closures x WHERE x.slot = p_slot)
         + (SELECT coalesce(sum(t.last_seq - t.first_seq + 1), 0) FROM awa.ready_tombstones t WHERE t.slot = p_slot)
      INTO ready, over;
    IF ready = over THEN RETURN '{}'; END IF;
    SELECT coalesce(array_agg(k.lane_seq), '{}') INTO live
      FROM (SELECT r.lane_seq FROM awa.ready_entries r WHERE r.slot = p_slot
            EXCEPT ALL
            (SELECT s FROM awa.attempt_closures x, unnest(x.seqs) g, generate_series(lower(g), upper(g) - 1) s WHERE x.slot = p_slot
             UNION ALL
             SELECT s FROM awa.ready_tombstones t, generate_series(t.first_seq, t.last_seq) s WHERE t.slot = p_slot)
            LIMIT p_limit) k;
    RETURN live;
END $$;

-- Did an attempt on one of the slot's rows end after this time?
-- index: none
-- bound: the closures of the slot
CREATE OR REPLACE FUNCTION awa.has_closures_since(p_slot int, p_since timestamptz) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    SELECT EXISTS (SELECT FROM awa.attempt_closures x WHERE x.slot = p_slot AND x.closed_at > p_since);
$$;

-- Are there rows in the slot that the snapshot doesn't show?
-- index: ready_entries (lane_id, txid, lane_seq)
-- bound: one probe a lane, more only where transactions ran at the snapshot
CREATE OR REPLACE FUNCTION awa.has_newer_rows(p_slot int, p_seen pg_snapshot) RETURNS boolean
LANGUAGE sql VOLATILE SET enable_seqscan = off AS $$
    SELECT EXISTS (SELECT FROM awa.lanes l CROSS JOIN LATERAL (
        SELECT FROM awa.ready_entries r
         WHERE r.slot = p_slot AND r.lane_id = l.lane_id AND r.txid >= pg_snapshot_xmin(p_seen)
           AND r.lane_seq >= (SELECT g.trusted_from FROM awa.ring g)
           AND NOT pg_visible_in_snapshot(r.txid, p_seen) LIMIT 1) k);
$$;

-- Copies live rows of a slot into the current one, at their lane, position and txid; running ones with their claim.
-- moves: nothing
-- index: ready_entries (lane_id, lane_seq) of the slot, lane_claims of the slot
-- bound: the set; the caller holds the slot exclusively
CREATE OR REPLACE FUNCTION awa.carry_live(p_slot int, p_live bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    open_slot smallint;
    still bigint[];
BEGIN
    IF p_live = '{}' THEN RETURN; END IF;
    SELECT g.current_slot INTO open_slot FROM awa.ring g;
    -- What ended between the count and the lock needs no carrying.
    SELECT coalesce(array_agg(u.seq), '{}') INTO still FROM unnest(p_live) u(seq)
     WHERE NOT EXISTS (SELECT FROM awa.attempt_closures x WHERE x.slot = p_slot AND x.seqs @> u.seq)
       AND NOT EXISTS (SELECT FROM awa.ready_tombstones t WHERE t.slot = p_slot AND u.seq BETWEEN t.first_seq AND t.last_seq);
    INSERT INTO awa.ready_entries
           (lane_seq, job_id, txid, ready_at, created_at, run_at, lane_id, slot, attempt, max_attempts, route_shard,
            kind, args, tags, metadata, errors, unique_key, route_key)
    SELECT r.lane_seq, r.job_id, r.txid, r.ready_at, r.created_at, r.run_at, r.lane_id, open_slot, r.attempt, r.max_attempts,
           r.route_shard, r.kind, r.args, r.tags, r.metadata, r.errors, r.unique_key, r.route_key
      FROM awa.ready_entries r WHERE r.slot = p_slot AND r.lane_seq = ANY (still);
    INSERT INTO awa.lane_claims
           (claim_no, cursor, claimed_at, deadline_at, runtime_id, lane_id, jobs, slot, seqs, seen, owed)
    SELECT c.claim_no, c.cursor, c.claimed_at, c.deadline_at, c.runtime_id, c.lane_id, awa.positions_in(c.open), open_slot,
           c.open, c.seen, c.owed
      FROM (SELECT k.*, k.seqs * (SELECT range_agg(int8range(s, s + 1)) FROM unnest(still) s) AS open
              FROM awa.lane_claims k WHERE k.slot = p_slot AND k.jobs > 0) c
     WHERE NOT isempty(c.open);
END $$;

-- Copies the claim heads that live in a slot into the current one, without positions.
-- moves: nothing
-- index: lane_claims (lane_id, claim_no)
-- bound: the lanes; the caller holds their locks
CREATE OR REPLACE FUNCTION awa.carry_heads(p_slot int) RETURNS void
LANGUAGE sql VOLATILE AS $$
    INSERT INTO awa.lane_claims (claim_no, cursor, claimed_at, lane_id, jobs, slot, seqs, seen, owed)
    SELECT h.claim_no, h.cursor, h.claimed_at, h.lane_id, 0, g.current_slot, '{}', h.seen, h.owed
      FROM awa.lane_heads h CROSS JOIN awa.ring g WHERE h.slot = p_slot;
$$;
