-- What a closed slot still holds, asked by awa.prune_slot.

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

-- Lanes whose claim head lives in the slot and nowhere else.
-- index: lane_claims (lane_id, claim_no)
-- bound: p_limit answered; two probes a lane
CREATE OR REPLACE FUNCTION awa.lanes_headed_in(p_slot int, p_limit int) RETURNS int[]
LANGUAGE sql VOLATILE SET enable_seqscan = off AS $$
    SELECT coalesce(array_agg(k.lane_id ORDER BY k.lane_id), '{}')
      FROM (SELECT l.lane_id
              FROM awa.lanes l
             CROSS JOIN LATERAL (SELECT c.claim_no FROM awa.lane_claims c WHERE c.slot = p_slot AND c.lane_id = l.lane_id
                                  ORDER BY c.claim_no DESC LIMIT 1) h
             WHERE NOT EXISTS (SELECT FROM awa.lane_claims o
                                WHERE o.lane_id = l.lane_id AND o.claim_no >= h.claim_no AND o.slot <> p_slot)
             ORDER BY l.lane_id LIMIT p_limit) k;
$$;

-- Can anybody still look with a snapshot that does not show a transaction?
-- index: none
-- bound: the sessions
-- params: the transaction, and a time at which somebody saw that it had committed: what began later shows it, however old the
--         oldest transaction that its snapshot lists
-- A session of another role tells when it began only to members of pg_read_all_stats; untold, it counts as old.
CREATE OR REPLACE FUNCTION awa.is_pinned(p_txid xid8, p_seen_at timestamptz) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    SELECT EXISTS (
        SELECT FROM pg_stat_activity a
         WHERE a.backend_xmin IS NOT NULL AND a.pid <> pg_backend_pid()
           AND (a.backend_type = 'walsender' OR (a.datname = current_database() AND a.backend_type <> 'autovacuum worker'))
           AND age(a.backend_xmin) >= age(p_txid::xid)
           AND coalesce(a.xact_start, '-infinity') <= p_seen_at);
$$;
