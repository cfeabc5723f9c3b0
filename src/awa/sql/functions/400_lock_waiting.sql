-- Locks those of a set of jobs that wait (available, scheduled, retryable, waiting_external) and answers what really still waits.
-- moves: nothing; the caller's transaction then changes them with awa.relocate or awa.cancel_waiting
-- index: that of awa.lock_waiting_set; lanes and deferred_jobs primary keys
-- bound: the set
-- params: job ids, and where each was last seen (arrays of equal length; nulls: found by id)
CREATE OR REPLACE FUNCTION awa.lock_waiting(
    p_ids bigint[], p_lanes int[] DEFAULT NULL, p_seqs bigint[] DEFAULT NULL, p_slots smallint[] DEFAULT NULL)
RETURNS TABLE (job_id bigint, place text, lane_id int, lane_seq bigint, slot smallint, queue text, priority smallint)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    k record;
BEGIN
    SELECT * INTO k FROM awa.lock_waiting_set(p_ids, p_lanes, p_seqs, p_slots);
    RETURN QUERY
    SELECT u.job_id, 'ready', u.lane_id, u.lane_seq, u.slot, l.queue, l.priority
      FROM unnest(k.ids, k.lanes, k.seqs, k.slots) u(job_id, lane_id, lane_seq, slot)
      JOIN awa.lanes l ON l.lane_id = u.lane_id
    UNION ALL
    SELECT u.job_id, 'deferred', NULL, NULL, NULL, d.queue, d.priority
      FROM unnest(k.ids, k.lanes) u(job_id, lane_id)
      JOIN awa.deferred_jobs d ON d.job_id = u.job_id
     WHERE u.lane_id IS NULL;
END $$;

-- The same, answered as arrays: what is locked and waits (null positions: deferred), and the rest of the ids.
-- index: ready_entries (lane_id, lane_seq) by hint, those of awa.lock_waiting_by_id for what isn't at its hint
-- bound: the set; rows locked by someone else are left out
-- params: as above. One walk a lane and slot, since a probe for each job costs more than the job's lock.
-- Claim heads and tombstones are read in a new statement after the row locks: the snapshot that found the rows
-- knows nothing of a claim or a move that committed while this waited.
CREATE OR REPLACE FUNCTION awa.lock_waiting_set(
    p_ids bigint[], p_lanes int[], p_seqs bigint[], p_slots smallint[],
    OUT ids bigint[], OUT lanes int[], OUT seqs bigint[], OUT slots smallint[], OUT rest bigint[])
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    txids xid8[];
    found record;
BEGIN
    PERFORM awa.require_read_committed();
    ids := '{}'; lanes := '{}'; seqs := '{}'; slots := '{}'; rest := p_ids;
    IF p_lanes IS NOT NULL THEN
        SELECT array_agg(k.job_id), array_agg(k.lane_id), array_agg(k.lane_seq), array_agg(k.slot), array_agg(k.txid)
          INTO ids, lanes, seqs, slots, txids
          FROM (SELECT r.job_id, r.lane_id, r.lane_seq, r.slot, r.txid
                  FROM (SELECT u.slot, u.lane_id, array_agg(u.lane_seq ORDER BY u.lane_seq) AS seqs
                          FROM unnest(p_lanes, p_seqs, p_slots) u(lane_id, lane_seq, slot) GROUP BY u.slot, u.lane_id) g
                  JOIN awa.lane_candidates r ON r.slot = g.slot AND r.lane_id = g.lane_id AND r.lane_seq = ANY (g.seqs)
                   FOR UPDATE OF r SKIP LOCKED) k
         WHERE (k.job_id IN (SELECT unnest(p_ids))) IS TRUE;  -- not as a join: hash joins are off here
        PERFORM awa.pause_point('change.after_locks');
        SELECT w.* INTO ids, lanes, seqs, slots FROM awa.still_waiting(ids, lanes, seqs, slots, txids) w;
        rest := ARRAY(SELECT unnest(p_ids) EXCEPT SELECT unnest(ids));
    END IF;
    -- What was not at its hint is looked for by id.
    IF cardinality(rest) > 0 THEN
        SELECT coalesce(array_agg(k.job_id), '{}') AS ids, coalesce(array_agg(k.lane_id), '{}') AS lanes,
               coalesce(array_agg(k.lane_seq), '{}') AS seqs, coalesce(array_agg(k.slot), '{}') AS slots
          INTO found FROM awa.lock_waiting_by_id(rest) k;
        ids := ids || found.ids; lanes := lanes || found.lanes; seqs := seqs || found.seqs; slots := slots || found.slots;
        rest := ARRAY(SELECT unnest(rest) EXCEPT SELECT unnest(found.ids) ORDER BY 1);
    END IF;
END $$;

-- The same without hints. Deferred rows first: a job that is promoted in between is then found in its lane.
-- index: deferred_jobs primary key, ready_entries (job_id)
-- bound: the set
DROP FUNCTION IF EXISTS awa.lock_waiting_by_id(bigint[]);  -- it used to answer queue and priority too
CREATE OR REPLACE FUNCTION awa.lock_waiting_by_id(p_ids bigint[])
RETURNS TABLE (job_id bigint, lane_id int, lane_seq bigint, slot smallint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    deferred bigint[];
    a record;
BEGIN
    SELECT array_agg(k.job_id) INTO deferred
      FROM (SELECT d.job_id FROM awa.deferred_jobs d WHERE d.job_id = ANY (p_ids)
             ORDER BY d.job_id FOR UPDATE SKIP LOCKED) k;
    RETURN QUERY SELECT d, NULL::int, NULL::bigint, NULL::smallint FROM unnest(deferred) d;
    PERFORM awa.pause_point('change.after_deferred');
    -- A job's newest ready row is the only one that can be live.
    SELECT array_agg(k.job_id) AS ids, array_agg(k.lane_id) AS lanes, array_agg(k.lane_seq) AS seqs,
           array_agg(k.slot) AS slots, array_agg(k.txid) AS txids INTO a
      FROM (SELECT r.job_id, r.lane_id, r.lane_seq, r.slot, r.txid
              FROM (SELECT unnest(p_ids) AS id EXCEPT SELECT unnest(deferred)) u
              CROSS JOIN LATERAL (SELECT max(e.lane_seq) AS newest FROM awa.ready_entries e WHERE e.job_id = u.id) n
              JOIN awa.lane_candidates r ON r.job_id = u.id AND r.lane_seq = n.newest
             ORDER BY r.lane_id, r.lane_seq FOR UPDATE OF r SKIP LOCKED) k;
    PERFORM awa.pause_point('change.after_locks');
    RETURN QUERY SELECT u.* FROM awa.still_waiting(a.ids, a.lanes, a.seqs, a.slots, a.txids) w,
                                 unnest(w.ids, w.lanes, w.seqs, w.slots) u;
END $$;
