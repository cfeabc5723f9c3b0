-- Locks those of a set of jobs that wait (available, scheduled, retryable) and answers what really still waits.
-- moves: nothing; the caller's transaction then changes them with awa.relocate or awa.cancel_waiting
-- index: ready_entries (lane_id, lane_seq) by hint, (job_id) without; deferred_jobs primary key
-- bound: the set; locks in key order, rows locked by someone else are left out
-- params: job ids, and where each was last seen (arrays of equal length; nulls: found by id)
-- Claim heads and tombstones are read in a new statement after the row locks: the snapshot that found the rows
-- knows nothing of a claim or a move that committed while this waited.
CREATE OR REPLACE FUNCTION awa.lock_waiting(
    p_ids bigint[], p_lanes int[] DEFAULT NULL, p_seqs bigint[] DEFAULT NULL, p_slots smallint[] DEFAULT NULL)
RETURNS TABLE (job_id bigint, place text, lane_id int, lane_seq bigint, slot smallint, queue text, priority smallint)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    lanes int[];
    seqs bigint[];
    slots smallint[];
    live bigint[] := '{}';
    queues text[];
    priorities smallint[];
    elsewhere bigint[];
BEGIN
    PERFORM awa.require_read_committed();
    IF p_lanes IS NOT NULL THEN
        SELECT array_agg(k.lane_id), array_agg(k.lane_seq), array_agg(k.slot) INTO lanes, seqs, slots
          FROM (SELECT r.lane_id, r.lane_seq, r.slot
                  FROM unnest(p_ids, p_lanes, p_seqs, p_slots) u(job_id, lane_id, lane_seq, slot)
                  JOIN awa.ready_entries r ON r.slot = u.slot AND r.lane_id = u.lane_id AND r.lane_seq = u.lane_seq
                                          AND r.job_id = u.job_id
                 ORDER BY r.lane_id, r.lane_seq FOR UPDATE OF r SKIP LOCKED) k;
        PERFORM awa.pause_point('change.after_locks');
        SELECT coalesce(array_agg(w.job_id), '{}'), array_agg(w.lane_id), array_agg(w.lane_seq), array_agg(w.slot),
               array_agg(w.queue), array_agg(w.priority)
          INTO live, lanes, seqs, slots, queues, priorities FROM awa.still_waiting(lanes, seqs, slots) w;
        RETURN QUERY SELECT w.job_id, 'ready', w.lane_id, w.lane_seq, w.slot, w.queue, w.priority
                       FROM unnest(live, lanes, seqs, slots, queues, priorities)
                            w(job_id, lane_id, lane_seq, slot, queue, priority);
    END IF;
    -- What was not at its hint is looked for by id.
    SELECT array_agg(k.id) INTO elsewhere FROM (SELECT unnest(p_ids) AS id EXCEPT SELECT unnest(live)) k;
    IF elsewhere IS NOT NULL THEN
        RETURN QUERY SELECT * FROM awa.lock_waiting_by_id(elsewhere);
    END IF;
END $$;

-- The same without hints. Deferred rows first: a job that is promoted in between is then found in its lane.
-- index: deferred_jobs primary key, ready_entries (job_id)
-- bound: the set
CREATE OR REPLACE FUNCTION awa.lock_waiting_by_id(p_ids bigint[])
RETURNS TABLE (job_id bigint, place text, lane_id int, lane_seq bigint, slot smallint, queue text, priority smallint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    deferred bigint[];
    lanes int[];
    seqs bigint[];
    slots smallint[];
BEGIN
    SELECT array_agg(k.job_id) INTO deferred
      FROM (SELECT d.job_id FROM awa.deferred_jobs d WHERE d.job_id = ANY (p_ids)
             ORDER BY d.job_id FOR UPDATE SKIP LOCKED) k;
    IF deferred IS NOT NULL THEN
        RETURN QUERY SELECT d.job_id, 'deferred', NULL::int, NULL::bigint, NULL::smallint, d.queue, d.priority
                       FROM awa.deferred_jobs d WHERE d.job_id = ANY (deferred);
    END IF;
    PERFORM awa.pause_point('change.after_deferred');
    -- A job's newest ready row is the only one that can be live.
    SELECT array_agg(k.lane_id), array_agg(k.lane_seq), array_agg(k.slot) INTO lanes, seqs, slots
      FROM (SELECT r.lane_id, r.lane_seq, r.slot
              FROM (SELECT unnest(p_ids) AS id EXCEPT SELECT unnest(deferred)) u
              CROSS JOIN LATERAL (SELECT max(e.lane_seq) AS newest FROM awa.ready_entries e WHERE e.job_id = u.id) n
              JOIN awa.ready_entries r ON r.job_id = u.id AND r.lane_seq = n.newest
             ORDER BY r.lane_id, r.lane_seq FOR UPDATE OF r SKIP LOCKED) k;
    PERFORM awa.pause_point('change.after_locks');
    RETURN QUERY SELECT w.job_id, 'ready', w.lane_id, w.lane_seq, w.slot, w.queue, w.priority
                   FROM awa.still_waiting(lanes, seqs, slots) w;
END $$;
