-- Gives the job that holds a unique key the arguments, the priority and the time of another one, if it still waits.
-- moves: available | scheduled | retryable -> available | scheduled
-- index: those of awa.lock_waiting_by_id, unique_keys primary key
-- bound: one job
-- params: the transaction's id; the holder and its key; args, priority, run_at (null: now). Answers replaced; conflict (it runs, it
--         waits for a callback, or it has ended and keeps its key); or again (somebody has it locked, or it lost the key).
-- It keeps its id, attempts, errors, tags, metadata, queue and place in order; a ready one goes to the end of its lane.
CREATE OR REPLACE FUNCTION awa.replace_holder(
    p_txid xid8, p_holder bigint, p_key bytea, p_args json, p_priority int, p_run_at timestamptz) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    place record;
    why text;
BEGIN
    PERFORM awa.pause_point('unique.before_lock');
    SELECT k.ids, k.lanes[1] AS lane_id, k.seqs[1] AS lane_seq, k.slots[1] AS slot INTO place
      FROM awa.lock_waiting_set(ARRAY[p_holder], NULL, NULL, NULL) k;
    IF place.ids = '{}' THEN SELECT e.reason INTO why FROM awa.explain_not_waiting(ARRAY[p_holder]) e; END IF;
    PERFORM awa.pause_point('unique.before_replace');
    -- A new statement, after the locks: it may have been moved, or have ended, and its key may be free or another's.
    IF NOT EXISTS (SELECT FROM awa.unique_keys k WHERE k.key = p_key AND k.job_id = p_holder) THEN RETURN 'again'; END IF;
    IF why IS NOT NULL THEN RETURN CASE why WHEN 'locked' THEN 'again' ELSE 'conflict' END; END IF;
    IF place.lane_id IS NULL THEN
        RETURN awa.replace_deferred(p_txid, p_holder, p_args, p_priority, coalesce(p_run_at, clock_timestamp()));
    END IF;
    PERFORM awa.replace_ready(p_txid, place.lane_id, place.lane_seq, place.slot, p_args, p_priority, p_run_at);
    RETURN 'replaced';
END $$;

-- The same for a deferred job, locked by the caller, in place; if it is due now it goes to its lane.
-- moves: scheduled | retryable -> the same, or available
-- index: deferred_jobs primary key
-- bound: one job
CREATE OR REPLACE FUNCTION awa.replace_deferred(p_txid xid8, p_id bigint, p_args json, p_priority int, p_run_at timestamptz) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    is_due constant boolean := p_run_at <= clock_timestamp();
    in_queue text;
    old awa.deferred_jobs;
BEGIN
    SELECT * INTO old FROM awa.deferred_jobs d WHERE d.job_id = p_id AND d.state IN ('scheduled', 'retryable', 'available');
    IF NOT FOUND THEN RETURN 'conflict'; END IF;
    in_queue := old.queue;
    -- One that is parked for its concurrency key stays so, unless it is to run later.
    UPDATE awa.deferred_jobs d SET args = p_args, priority = p_priority, run_at = p_run_at,
           state = CASE WHEN d.state = 'available' AND NOT is_due THEN 'scheduled' ELSE d.state END
     WHERE d.job_id = p_id;
    IF old.state = 'available' THEN
        IF NOT is_due THEN
            PERFORM awa.follow_keys(ARRAY[p_id], ARRAY[old.unique_key], ARRAY[in_queue], ARRAY['available'], ARRAY['scheduled']);
        END IF;
    ELSIF is_due THEN
        PERFORM awa.make_ready(p_txid, ARRAY[p_id]);
        PERFORM awa.notify_if_idle(in_queue);
    END IF;
    RETURN 'replaced';
END $$;

-- The same for a ready job, locked by the caller: it leaves its lane, and comes anew.
-- moves: available -> available | scheduled
-- index: ready_entries (lane_id, lane_seq)
-- bound: one job
CREATE OR REPLACE FUNCTION awa.replace_ready(
    p_txid xid8, p_lane int, p_seq bigint, p_slot smallint, p_args json, p_priority int, p_run_at timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    old awa.ready_entries;
    in_queue text;
    shard smallint;
BEGIN
    SELECT * INTO old FROM awa.ready_entries r WHERE r.slot = p_slot AND r.lane_id = p_lane AND r.lane_seq = p_seq;
    SELECT l.queue, l.enqueue_shard INTO in_queue, shard FROM awa.lanes l WHERE l.lane_id = p_lane;
    PERFORM awa.leave_lanes(ARRAY[p_lane], ARRAY[p_seq], ARRAY[p_slot], 'replaced');
    IF p_run_at > clock_timestamp() THEN
        INSERT INTO awa.deferred_jobs
               (job_id, created_at, run_at, priority, attempt, max_attempts, route_shard, state, queue, kind, args, tags, metadata,
                errors, unique_key, route_key, concurrency_key, concurrency_limit)
        VALUES (old.job_id, old.created_at, p_run_at, p_priority, old.attempt, old.max_attempts, old.route_shard, 'scheduled',
                in_queue, old.kind, p_args, old.tags, old.metadata, old.errors, old.unique_key, old.route_key,
                old.concurrency_key, old.concurrency_limit);
        PERFORM awa.follow_keys(ARRAY[old.job_id], ARRAY[old.unique_key], ARRAY[in_queue], ARRAY['available'], ARRAY['scheduled']);
        IF old.concurrency_key IS NOT NULL THEN PERFORM awa.release_places(p_txid, ARRAY[old.job_id], ARRAY[old.concurrency_key]); END IF;
        RETURN;
    END IF;
    INSERT INTO awa.ready_entries
           (lane_seq, job_id, txid, created_at, run_at, lane_id, slot, attempt, max_attempts, route_shard, kind, args, tags, metadata,
            errors, unique_key, route_key, concurrency_key, concurrency_limit)
    SELECT nextval('awa.job_positions'), old.job_id, p_txid, old.created_at, p_run_at, awa.lane_for(in_queue, p_priority, shard),
           g.current_slot, old.attempt, old.max_attempts, old.route_shard, old.kind, p_args, old.tags, old.metadata, old.errors,
           old.unique_key, old.route_key, old.concurrency_key, old.concurrency_limit
      FROM awa.ring g;
    PERFORM awa.notify_if_idle(in_queue);
END $$;
