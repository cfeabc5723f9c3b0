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
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
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
    -- Most looks find nobody gone and no deadline passed, and to look through what is open costs milliseconds of what others wait for.
    attempts_rescued := CASE WHEN EXISTS (SELECT FROM awa.runtimes r WHERE r.state <> 'alive' AND NOT r.settled)
                             THEN awa.rescue_attempts(p_limit, now_, false) ELSE 0 END;
    deadlines_passed := CASE WHEN awa.deadline_passed(now_) THEN awa.rescue_attempts(p_limit, now_, true) ELSE 0 END;
    UPDATE awa.runtimes r SET settled = true
     WHERE r.state <> 'alive' AND NOT r.settled AND r.settle_from <= pg_snapshot_xmin(pg_current_snapshot())
       AND NOT EXISTS (SELECT FROM awa.open_attempts(r.id, r.open_since - interval '1 second'));
END $$;

-- Ends the open attempts of runtimes that are gone, or those past their deadline. Where that fails a job for good, what its program
-- wants to follow is noted in the same transaction: only a worker can ask a task's on_failed.
-- index: as awa.rescue, awa.last_attempts_of, awa.owe_follow_ups
-- bound: p_limit attempts
CREATE OR REPLACE FUNCTION awa.rescue_attempts(p_limit int, p_now timestamptz, p_by_deadline boolean) RETURNS int
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    a record;
    error jsonb;
    last record;     -- attempts of their jobs, of those that something is to follow
    failed bigint[];
    rescued int;
BEGIN
    error := CASE WHEN p_by_deadline THEN jsonb_build_object('error', 'the attempt ran past its deadline', 'kind', 'DeadlineExceeded')
                  ELSE jsonb_build_object('error', 'the runtime that ran it is gone', 'kind', 'RuntimeLost') END;
    SELECT array_agg(k.lane_id) AS lanes, array_agg(k.claim_no) AS nos, array_agg(k.lane_seq) AS seqs,
           array_agg(error || jsonb_build_object('runtime_id', k.id)) AS errors, array_agg(k.id) AS runtimes INTO a
      FROM (SELECT o.lane_id, o.claim_no, o.lane_seq, r.id
              FROM awa.runtimes r CROSS JOIN LATERAL awa.open_attempts(r.id, r.open_since - interval '1 second') o
             WHERE NOT r.settled AND (p_by_deadline OR r.state <> 'alive') AND (NOT p_by_deadline OR o.deadline_at <= p_now)
             LIMIT p_limit) k;
    IF a.seqs IS NULL THEN RETURN 0; END IF;
    SELECT array_agg(l.lane_seq) AS seqs, array_agg(l.job_id) AS ids INTO last FROM awa.last_attempts_of(a.runtimes, a.lanes, a.seqs) l;
    PERFORM awa.pause_point('rescue.before_finish');
    SELECT count(*), array_agg(f.lane_seq) FILTER (WHERE f.state = 'failed') INTO rescued, failed
      FROM awa.finish(NULL, a.lanes, a.nos, a.seqs, array_fill('retried'::text, ARRAY[cardinality(a.seqs)]), NULL, a.errors) f;
    -- Of those alone that this rescue ended: an end by their own worker brought its follow-ups itself.
    IF last.ids IS NOT NULL AND failed IS NOT NULL THEN
        PERFORM awa.owe_follow_ups(ARRAY(SELECT u.id FROM unnest(last.seqs, last.ids) u(seq, id) WHERE u.seq = ANY (failed)));
    END IF;
    IF p_by_deadline THEN
        PERFORM pg_notify('awa_control', json_build_object('cancelled', json_agg(k.seq))::text)
           FROM (SELECT seq, (row_number() OVER () - 1) / 300 AS part FROM unnest(a.seqs) seq) k GROUP BY k.part;
    END IF;
    RETURN rescued;
END $$;
