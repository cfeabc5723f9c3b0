-- What is not over in a slot that is to be emptied goes on in the current one.

-- Brings live rows of a slot into the current one, at their lane, position and txid; running ones with their claim.
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
            kind, args, tags, metadata, errors, unique_key, route_key, concurrency_key, concurrency_limit)
    SELECT r.lane_seq, r.job_id, r.txid, r.ready_at, r.created_at, r.run_at, r.lane_id, open_slot, r.attempt, r.max_attempts,
           r.route_shard, r.kind, r.args, r.tags, r.metadata, r.errors, r.unique_key, r.route_key, r.concurrency_key, r.concurrency_limit
      FROM unnest(lanes, seqs) u(lane_id, seq)
      JOIN awa.ready_entries r ON r.slot = p_slot AND r.lane_id = u.lane_id AND r.lane_seq = u.seq;
    INSERT INTO awa.lane_claims
           (claim_no, cursor, claimed_at, deadline_at, total, runtime_id, lane_id, jobs, slot, seqs, seen, owed, keyed)
    SELECT c.claim_no, c.cursor, c.claimed_at, c.deadline_at, c.total, c.runtime_id, c.lane_id, awa.positions_in(c.seqs * still), open_slot,
           c.seqs * still, c.seen, c.owed, nullif(c.keyed * still, '{}')
      FROM (SELECT DISTINCT f.lane_id, f.claim_no
              FROM unnest(seqs) u(seq)
             CROSS JOIN LATERAL (SELECT k.lane_id, k.claim_no FROM awa.lane_claims k
                                  WHERE k.slot = p_slot AND k.jobs > 0 AND k.seqs @> u.seq OFFSET 0) f) d
      JOIN awa.lane_claims c ON c.slot = p_slot AND c.lane_id = d.lane_id AND c.claim_no = d.claim_no
     WHERE c.jobs > 0 AND NOT isempty(c.seqs * still);
    -- Taken out here row by row: a reader with an older snapshot goes on seeing them, which TRUNCATE would not let it.
    UPDATE awa.lane_claims c
       SET seqs = c.seqs - still, jobs = awa.positions_in(c.seqs - still), keyed = nullif(c.keyed - still, '{}')
      FROM (SELECT DISTINCT f.lane_id, f.claim_no
              FROM unnest(seqs) u(seq)
             CROSS JOIN LATERAL (SELECT k.lane_id, k.claim_no FROM awa.lane_claims k
                                  WHERE k.slot = p_slot AND k.jobs > 0 AND k.seqs @> u.seq OFFSET 0) f) d
     WHERE c.slot = p_slot AND c.lane_id = d.lane_id AND c.claim_no = d.claim_no AND c.jobs > 0;
    DELETE FROM awa.ready_entries r
     USING unnest(lanes, seqs) u(lane_id, seq)
     WHERE r.slot = p_slot AND r.lane_id = u.lane_id AND r.lane_seq = u.seq;
END $$;

-- Copies the claim heads of lanes from a slot into the current one, without positions. The old row stays: it says the same.
-- moves: nothing
-- index: lane_claims (lane_id, claim_no)
-- bound: the lanes; the caller holds their locks
CREATE OR REPLACE FUNCTION awa.carry_heads(p_slot int, p_lanes int[]) RETURNS void
LANGUAGE sql VOLATILE AS $$
    INSERT INTO awa.lane_claims (claim_no, cursor, claimed_at, total, lane_id, jobs, slot, seqs, seen, owed)
    SELECT h.claim_no, h.cursor, h.claimed_at, h.total, h.lane_id, 0, g.current_slot, '{}', h.seen, h.owed
      FROM unnest(p_lanes) u(lane_id) CROSS JOIN awa.ring g
     CROSS JOIN LATERAL (SELECT c.* FROM awa.lane_claims c WHERE c.slot = p_slot AND c.lane_id = u.lane_id
                          ORDER BY c.claim_no DESC LIMIT 1) h;
$$;
