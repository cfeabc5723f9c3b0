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
    live_lanes int[];
    lanes int[];
BEGIN
    PERFORM awa.require_read_committed();
    IF awa.slot_is_empty(p_slot) THEN RETURN 'empty'; END IF;
    IF EXISTS (SELECT FROM awa.ring g WHERE g.current_slot = p_slot) THEN RETURN 'current'; END IF;
    IF awa.has_closures_since(p_slot, keep_from) THEN RETURN 'young'; END IF;
    PERFORM awa.pause_point('prune.before_count');
    counted := pg_current_snapshot();
    live := awa.live_positions(p_slot, p_carry_limit + 1);
    IF cardinality(live) > p_carry_limit THEN RETURN 'live'; END IF;
    -- What ended between the two looks is neither live nor was it seen as young.
    IF awa.has_closures_since(p_slot, keep_from) THEN RETURN 'young'; END IF;
    SELECT array_agg(r.lane_seq), array_agg(r.lane_id) INTO live, live_lanes
      FROM awa.ready_entries r WHERE r.slot = p_slot AND r.lane_seq = ANY (live);
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
    IF live IS NOT NULL AND awa.has_closures_since(p_slot, keep_from) THEN RETURN 'young'; END IF;
    PERFORM awa.carry_live(p_slot, live_lanes, live);
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
-- bound: one probe a lane, and one more for each transaction that ran at the snapshot
-- Not all ids from the oldest running one on: with one old transaction open that would be the slot.
CREATE OR REPLACE FUNCTION awa.has_newer_rows(p_slot int, p_seen pg_snapshot) RETURNS boolean
LANGUAGE sql VOLATILE SET enable_seqscan = off AS $$
    WITH trusted AS MATERIALIZED (
        SELECT g.trusted_from FROM awa.ring g
    )
    SELECT EXISTS (SELECT FROM awa.lanes l CROSS JOIN trusted g CROSS JOIN LATERAL (
        SELECT FROM awa.ready_entries r
         WHERE r.slot = p_slot AND r.lane_id = l.lane_id AND r.txid >= pg_snapshot_xmax(p_seen) AND r.lane_seq >= g.trusted_from
         LIMIT 1) later)
        OR EXISTS (SELECT FROM awa.lanes l CROSS JOIN trusted g CROSS JOIN pg_snapshot_xip(p_seen) x CROSS JOIN LATERAL (
        SELECT FROM awa.ready_entries r
         WHERE r.slot = p_slot AND r.lane_id = l.lane_id AND r.txid = x AND r.lane_seq >= g.trusted_from
         LIMIT 1) running);
$$;

-- Copies live rows of a slot into the current one, at their lane, position and txid; running ones with their claim.
-- moves: nothing
-- index: ready_entries (lane_id, lane_seq), lane_claims gist (seqs), attempt_closures (lane_id, claim_no), ready_tombstones (lane_id, first_seq)
-- bound: the set, however large the slot: the caller holds it exclusively, and every claim waits
CREATE OR REPLACE FUNCTION awa.carry_live(p_slot int, p_lanes int[], p_live bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    open_slot smallint;
    lanes int[];
    seqs bigint[];
    still int8multirange;
BEGIN
    IF p_live IS NULL THEN RETURN; END IF;
    SELECT g.current_slot INTO open_slot FROM awa.ring g;
    -- What ended between the count and the lock needs no carrying.
    SELECT array_agg(u.lane_id), array_agg(u.seq), coalesce(range_agg(int8range(u.seq, u.seq + 1)), '{}') INTO lanes, seqs, still
      FROM unnest(p_lanes, p_live) u(lane_id, seq)
     WHERE (SELECT x.claim_no
              FROM (SELECT k.lane_id, k.claim_no FROM awa.lane_claims k
                     WHERE k.slot = p_slot AND k.jobs > 0 AND k.seqs @> u.seq OFFSET 0) c
              JOIN awa.attempt_closures x ON x.slot = p_slot AND x.lane_id = c.lane_id AND x.claim_no = c.claim_no AND x.seqs @> u.seq
             LIMIT 1) IS NULL
       AND coalesce((SELECT t.last_seq FROM awa.ready_tombstones t
                      WHERE t.slot = p_slot AND t.lane_id = u.lane_id AND t.first_seq <= u.seq
                      ORDER BY t.first_seq DESC LIMIT 1), -1) < u.seq;
    INSERT INTO awa.ready_entries
           (lane_seq, job_id, txid, ready_at, created_at, run_at, lane_id, slot, attempt, max_attempts, route_shard,
            kind, args, tags, metadata, errors, unique_key, route_key)
    SELECT r.lane_seq, r.job_id, r.txid, r.ready_at, r.created_at, r.run_at, r.lane_id, open_slot, r.attempt, r.max_attempts,
           r.route_shard, r.kind, r.args, r.tags, r.metadata, r.errors, r.unique_key, r.route_key
      FROM unnest(lanes, seqs) u(lane_id, seq)
      JOIN awa.ready_entries r ON r.slot = p_slot AND r.lane_id = u.lane_id AND r.lane_seq = u.seq;
    INSERT INTO awa.lane_claims
           (claim_no, cursor, claimed_at, deadline_at, runtime_id, lane_id, jobs, slot, seqs, seen, owed)
    SELECT c.claim_no, c.cursor, c.claimed_at, c.deadline_at, c.runtime_id, c.lane_id, awa.positions_in(c.seqs * still), open_slot,
           c.seqs * still, c.seen, c.owed
      FROM (SELECT DISTINCT f.lane_id, f.claim_no
              FROM unnest(seqs) u(seq)
             CROSS JOIN LATERAL (SELECT k.lane_id, k.claim_no FROM awa.lane_claims k
                                  WHERE k.slot = p_slot AND k.jobs > 0 AND k.seqs @> u.seq OFFSET 0) f) d
      JOIN awa.lane_claims c ON c.slot = p_slot AND c.lane_id = d.lane_id AND c.claim_no = d.claim_no
     WHERE c.jobs > 0 AND NOT isempty(c.seqs * still);
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
