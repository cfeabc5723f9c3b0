-- Claims up to p_limit jobs of a queue for a runtime, lane by lane in order of effective priority.
-- moves: available -> running
-- index: those of awa.claim_lane
-- bound: p_limit jobs; a lane that another claimer works on is passed by
-- params: queue, limit, runtime (registered and alive), deadline_s (seconds an attempt may take, null: no deadline).
--         A row whose job_id is null says: nothing served, but more can be had by asking again at once. If it has a kind, it
--         comes last and says that a limit of the queue cut this claim: kind is busy, max_running or rate (see
--         awa.limit_claim), and run_at - claimed_at is how long to wait before asking again (null: until something ends).
-- Lanes raised by ageing get a fifth of each claim ahead of all others, so a busy first priority can't starve them.
CREATE OR REPLACE FUNCTION awa.claim(p_queue text, p_limit int, p_runtime uuid, p_deadline_s float8 DEFAULT NULL)
RETURNS SETOF awa.claimed_job
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    claimed_at_ timestamptz := clock_timestamp();
    deadline timestamptz;
    aged_share int := 0;
    served int := 0;
    more boolean := false;
    lane record;
    one record;
    meta record;
    cut record;
    told awa.claimed_job;   -- has a kind if a limit cut this claim
    lanes int[] := '{}';
    nos bigint[] := '{}';
    priorities smallint[] := '{}';
    seqs int8multirange[] := '{}';
BEGIN
    PERFORM awa.require_read_committed();
    PERFORM awa.require_alive(p_runtime);
    SELECT m.paused, coalesce(m.max_running, m.rate_limit) IS NOT NULL AS limited INTO meta
      FROM awa.queue_meta m WHERE m.queue = p_queue;
    IF meta.paused THEN RETURN; END IF;
    IF meta.limited THEN
        SELECT * INTO cut FROM awa.limit_claim(p_queue, p_limit);
        p_limit := cut.allowed;
        claimed_at_ := clock_timestamp();  -- the claims of a queue with a limit follow each other in their times, too
        told.kind := cut.held; told.claimed_at := claimed_at_;
        told.run_at := claimed_at_ + make_interval(secs => cut.again_s);
    END IF;
    deadline := claimed_at_ + make_interval(secs => p_deadline_s);
    IF random() * 5 < p_limit THEN aged_share := greatest(1, p_limit / 5); END IF;
    FOR lane IN
        SELECT l.lane_id, l.priority, aged.first AS aged_turn
          FROM awa.lanes l
          CROSS JOIN (VALUES (true), (false)) aged(first)
         WHERE l.queue = p_queue AND (NOT aged.first OR (l.effective_priority < l.priority AND aged_share > 0))
         ORDER BY aged.first DESC, l.effective_priority, l.priority, random()
    LOOP
        EXIT WHEN served >= p_limit;
        CONTINUE WHEN lane.aged_turn AND served >= aged_share;
        SELECT * INTO one FROM awa.claim_lane(
            lane.lane_id, CASE WHEN lane.aged_turn THEN aged_share ELSE p_limit END - served, p_runtime, claimed_at_, deadline);
        more := more OR one.o_more;
        IF one.o_jobs > 0 THEN
            served := served + one.o_jobs;
            lanes := lanes || lane.lane_id; nos := nos || one.o_claim_no;
            priorities := priorities || lane.priority; seqs := seqs || one.o_seqs;
        END IF;
    END LOOP;
    IF served = 0 THEN
        IF told.kind IS NOT NULL AND p_limit = 0 THEN
            RETURN NEXT told;
        ELSIF more THEN
            RETURN NEXT NULL::awa.claimed_job;
        END IF;
        RETURN;
    END IF;
    PERFORM awa.pause_point('claim.before_alive');
    -- A new statement, now that this transaction has its id: whoever sees the runtime's end committed knows that every
    -- claim of it has a lower id than those to come, and waits for these before he looks for the last time.
    PERFORM awa.require_alive(p_runtime);
    RETURN QUERY
    SELECT r.job_id, c.lane_id, c.claim_no, r.lane_seq, p_queue, c.priority, r.kind, r.args,
           (r.attempt + 1)::smallint, r.max_attempts, r.tags, r.metadata, r.errors, coalesce(r.run_at, r.created_at),
           r.created_at, r.ready_at, claimed_at_, deadline
      FROM unnest(lanes, nos, priorities, seqs) c(lane_id, claim_no, priority, seqs)
     CROSS JOIN LATERAL unnest(c.seqs) g
     CROSS JOIN LATERAL (SELECT e.* FROM awa.ready_entries e
                          WHERE e.lane_id = c.lane_id AND e.lane_seq >= lower(g) AND e.lane_seq < upper(g)
                          ORDER BY e.lane_seq OFFSET 0) r;
    IF told.kind IS NOT NULL AND served >= p_limit THEN RETURN NEXT told; END IF;
END $$;

-- Refuses a runtime that was not registered, was stopped, or was declared dead.
-- index: runtimes primary key
-- bound: one row
CREATE OR REPLACE FUNCTION awa.require_alive(p_runtime uuid) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM awa.runtimes t WHERE t.id = p_runtime AND t.state = 'alive') THEN
        RAISE EXCEPTION 'runtime % is not alive here', p_runtime
            USING ERRCODE = 'AW001', HINT = 'Register it again under a new id.';
    END IF;
END $$;
