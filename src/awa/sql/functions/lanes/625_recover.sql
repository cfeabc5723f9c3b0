-- Rebuilds what each lane still owes from the evidence (rows without claim and tombstone), and from now on counts all
-- older rows as visible. Answers whether there was anything to do.
-- moves: nothing
-- index: reads the ring
-- bound: the whole store, once
-- Writers are kept out: a row of an open transaction below the new line would never be seen again.
CREATE OR REPLACE FUNCTION awa.recover_after_restore() RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    high bigint;
BEGIN
    PERFORM awa.require_read_committed();
    IF NOT awa.was_restored() THEN RETURN false; END IF;
    LOCK TABLE awa.ready_entries, awa.lane_claims IN SHARE ROW EXCLUSIVE MODE;
    IF NOT awa.was_restored() THEN RETURN false; END IF;
    SELECT CASE WHEN p.is_called THEN p.last_value ELSE p.last_value - 1 END INTO high FROM awa.job_positions p;
    INSERT INTO awa.lane_claims (claim_no, cursor, claimed_at, total, lane_id, jobs, slot, seqs, seen, owed)
    SELECT h.claim_no + 1, high + 1, clock_timestamp(), h.total, h.lane_id, 0, g.current_slot, '{}', pg_current_snapshot(),
           coalesce((SELECT awa.join_ranges(h.lane_id, range_agg(int8range(r.lane_seq, r.lane_seq + 1)))
                       FROM awa.ready_entries r
                      WHERE r.lane_id = h.lane_id
                        AND NOT EXISTS (SELECT FROM awa.lane_claims c
                                         WHERE c.slot = r.slot AND c.lane_id = r.lane_id AND c.jobs > 0 AND c.seqs @> r.lane_seq)
                        AND coalesce((SELECT t.last_seq FROM awa.ready_tombstones t
                                       WHERE t.slot = r.slot AND t.lane_id = r.lane_id AND t.first_seq <= r.lane_seq
                                       ORDER BY t.first_seq DESC LIMIT 1), -1) < r.lane_seq), '{}')
      FROM awa.lane_heads h CROSS JOIN awa.ring g;
    UPDATE awa.ring SET trusted_from = high + 1, last_txid = pg_current_xact_id(),
           system_identifier = (SELECT s.system_identifier FROM pg_control_system() s);
    RETURN true;
END $$;
