-- Takes back attempts whose runtime is gone or whose deadline has passed; answers how many of each.
-- moves: running -> retryable | failed; runtimes alive -> dead
-- index: lane_claims (runtime_id, claimed_at), attempts (runtime_id), attempt_closures (lane_id, claim_no)
-- bound: p_limit attempts; looks no further back than each runtime's open_since
-- params: seconds without a heartbeat after which a runtime counts as dead, limit, the time (null: now)
-- A runtime that ended is looked at until nothing of it is open and no claim that it had under way can land any more: until
-- every transaction has ended that had its id before this function saw the end committed (see awa.claim).
CREATE OR REPLACE FUNCTION awa.rescue(
    p_stale_after_s float8, p_limit int, p_now timestamptz DEFAULT NULL,
    OUT runtimes_declared_dead int, OUT attempts_rescued int, OUT deadlines_passed int)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    now_ constant timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
    PERFORM awa.require_read_committed();
    -- Before anybody is declared dead here, so that each end it sees is committed, and with an id that is given out after that
    -- look. (The end of a snapshot won't do: ids beyond it may run.) From the future: restored from another cluster.
    IF pg_current_xact_id_if_assigned() IS NULL THEN
        UPDATE awa.runtimes r SET settle_from = pg_current_xact_id()
         WHERE r.state <> 'alive' AND NOT r.settled
           AND (r.settle_from IS NULL OR r.settle_from > pg_snapshot_xmax(pg_current_snapshot()));
    END IF;
    UPDATE awa.runtimes r SET state = 'dead', ended_at = now_
     WHERE r.id IN (SELECT s.id FROM awa.runtimes s
                     WHERE s.state = 'alive' AND s.heartbeat_at < now_ - make_interval(secs => p_stale_after_s)
                     ORDER BY s.id FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS runtimes_declared_dead = ROW_COUNT;
    attempts_rescued := awa.rescue_attempts(p_limit, now_, false);
    deadlines_passed := awa.rescue_attempts(p_limit, now_, true);
    UPDATE awa.runtimes r SET settled = true
     WHERE r.state <> 'alive' AND NOT r.settled AND r.settle_from <= pg_snapshot_xmin(pg_current_snapshot())
       AND NOT EXISTS (SELECT FROM awa.open_attempts(r.id, r.open_since - interval '1 second'));
END $$;

-- Ends the open attempts of runtimes that are gone, or those past their deadline.
-- index: as awa.rescue
-- bound: p_limit attempts
CREATE OR REPLACE FUNCTION awa.rescue_attempts(p_limit int, p_now timestamptz, p_by_deadline boolean) RETURNS int
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    a record;
    error jsonb;
    rescued int;
BEGIN
    error := CASE WHEN p_by_deadline THEN jsonb_build_object('error', 'the attempt ran past its deadline', 'kind', 'DeadlineExceeded')
                  ELSE jsonb_build_object('error', 'the runtime that ran it is gone', 'kind', 'RuntimeLost') END;
    SELECT array_agg(k.lane_id) AS lanes, array_agg(k.claim_no) AS nos, array_agg(k.lane_seq) AS seqs,
           array_agg(error || jsonb_build_object('runtime_id', k.id)) AS errors INTO a
      FROM (SELECT o.lane_id, o.claim_no, o.lane_seq, r.id
              FROM awa.runtimes r CROSS JOIN LATERAL awa.open_attempts(r.id, r.open_since - interval '1 second') o
             WHERE NOT r.settled AND CASE WHEN p_by_deadline THEN o.deadline_at <= p_now
                        ELSE r.state <> 'alive' END
             LIMIT p_limit) k;
    IF a.seqs IS NULL THEN RETURN 0; END IF;
    PERFORM awa.pause_point('rescue.before_finish');
    SELECT count(*) INTO rescued
      FROM awa.finish(NULL, a.lanes, a.nos, a.seqs, array_fill('retried'::text, ARRAY[cardinality(a.seqs)]), NULL, a.errors);
    IF p_by_deadline THEN
        PERFORM pg_notify('awa_control', json_build_object('cancelled', json_agg(k.seq))::text)
           FROM (SELECT seq, (row_number() OVER () - 1) / 300 AS part FROM unnest(a.seqs) seq) k GROUP BY k.part;
    END IF;
    RETURN rescued;
END $$;

-- A runtime's open attempts: those of its claims since `p_since`, and the older ones it wrote down.
-- index: lane_claims (runtime_id, claimed_at), attempts (runtime_id), attempt_closures (lane_id, claim_no)
-- bound: the claims since p_since, and its rows in awa.attempts
CREATE OR REPLACE FUNCTION awa.open_attempts(p_runtime uuid, p_since timestamptz)
RETURNS TABLE (lane_id int, claim_no bigint, lane_seq bigint, claimed_at timestamptz, deadline_at timestamptz)
LANGUAGE sql VOLATILE AS $$
    WITH claims AS (
        SELECT c.slot, c.lane_id, c.claim_no, c.claimed_at, c.deadline_at, c.seqs AS wanted
          FROM awa.lane_claims c WHERE c.runtime_id = p_runtime AND c.claimed_at >= p_since AND c.jobs > 0
        UNION ALL
        SELECT c.slot, c.lane_id, c.claim_no, c.claimed_at, c.deadline_at, int8multirange(int8range(a.lane_seq, a.lane_seq + 1))
          FROM awa.attempts a
          JOIN awa.lane_claims c ON c.lane_id = a.lane_id AND c.claim_no = a.claim_no AND c.seqs @> a.lane_seq
         WHERE a.runtime_id = p_runtime AND c.claimed_at < p_since
    )
    SELECT c.lane_id, c.claim_no, s, c.claimed_at, c.deadline_at
      FROM claims c
     CROSS JOIN LATERAL unnest(c.wanted - coalesce((SELECT range_agg(x.seqs) FROM awa.attempt_closures x
                                                     WHERE x.slot = c.slot AND x.lane_id = c.lane_id
                                                       AND x.claim_no = c.claim_no), '{}')) g
     CROSS JOIN LATERAL generate_series(lower(g), upper(g) - 1) s;
$$;
