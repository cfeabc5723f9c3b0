-- Says that a runtime lives, and learns what it lost.
-- moves: nothing
-- index: runtimes primary key, lane_claims (lane_id, claim_no), attempt_closures (lane_id, claim_no)
-- bound: the attempts given, those older than a few seconds
-- params: runtime; open_since (everything it claimed before is closed, or is among the attempts given here or before);
--         arrays of its older open attempts: lane, claim_no, lane_seq, progress (a JSON object or null: unchanged), changes of the
--         job's metadata (a JSON object or null: none).
--         Answers alive (false: declared dead, drop everything), the database's clock, and positions it no longer owns.
DROP FUNCTION IF EXISTS awa.heartbeat(uuid, timestamptz, int[], bigint[], bigint[], jsonb[]);  -- took no metadata
CREATE OR REPLACE FUNCTION awa.heartbeat(
    p_runtime uuid, p_open_since timestamptz, p_lanes int[], p_claim_nos bigint[], p_seqs bigint[],
    p_progress jsonb[] DEFAULT NULL, p_metadata jsonb[] DEFAULT NULL, OUT alive boolean, OUT db_now timestamptz, OUT lost bigint[])
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off AS $$
DECLARE
    owned int8multirange;   -- one set to look positions up in: asking each claim of each attempt is quadratic
BEGIN
    PERFORM awa.require_read_committed();
    db_now := clock_timestamp();
    lost := '{}';
    UPDATE awa.runtimes r SET heartbeat_at = db_now, open_since = coalesce(p_open_since, r.open_since)
     WHERE r.id = p_runtime AND r.state = 'alive';
    alive := FOUND;
    IF NOT alive OR coalesce(cardinality(p_seqs), 0) = 0 THEN RETURN; END IF;
    -- The same locks in the same order as awa.finish, so that no attempt is written down after it ended.
    PERFORM awa.lock_claims(p_lanes, p_claim_nos, p_seqs);
    PERFORM awa.pause_point('heartbeat.after_locks');
    INSERT INTO awa.attempts AS a (lane_seq, claim_no, job_id, runtime_id, lane_id, claimed_at, progress, metadata)
    SELECT u.lane_seq, u.claim_no, r.job_id, p_runtime, u.lane_id, o.claimed_at, u.progress, u.metadata
      FROM awa.own_positions(p_runtime, p_lanes, p_claim_nos, p_seqs) o
      JOIN unnest(p_lanes, p_claim_nos, p_seqs, p_progress, p_metadata) u(lane_id, claim_no, lane_seq, progress, metadata)
        ON u.lane_id = o.lane_id AND u.claim_no = o.claim_no AND o.own @> u.lane_seq
      JOIN awa.ready_entries r ON r.slot = o.slot AND r.lane_id = u.lane_id AND r.lane_seq = u.lane_seq
    ON CONFLICT (lane_seq) DO UPDATE
       SET progress = coalesce(excluded.progress, a.progress),
           metadata = CASE WHEN excluded.metadata IS NULL THEN a.metadata ELSE coalesce(a.metadata, '{}') || excluded.metadata END,
           updated_at = clock_timestamp()
     WHERE excluded.metadata IS NOT NULL OR (excluded.progress IS NOT NULL AND excluded.progress IS DISTINCT FROM a.progress);
    SELECT coalesce(range_agg(o.own), '{}') INTO owned FROM awa.own_positions(p_runtime, p_lanes, p_claim_nos, p_seqs) o;
    SELECT coalesce(array_agg(u.seq), '{}') INTO lost FROM unnest(p_seqs) u(seq) WHERE NOT owned @> u.seq;
END $$;
