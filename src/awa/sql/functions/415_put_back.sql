-- Puts locked waiting jobs back to where they were before an operation changed them, as far as they are as it left them.
-- moves: available -> available (in another lane), scheduled | retryable -> the same
-- index: batch_operation_items primary key, then as awa.relocate
-- bound: the set, and one awa.relocate for each different `before` of it
-- params: the operation whose changes are taken back; what awa.lock_waiting answered in this transaction (null positions: deferred).
--         Answers as awa.relocate; moved_away | changed_since | waiting_external | forgotten for a job that is not as it was left
-- The caller has the rows locked, and this reads in a new statement: what somebody else changed since is seen.
CREATE OR REPLACE FUNCTION awa.put_back(
    p_operation uuid, p_ids bigint[], p_lanes int[], p_seqs bigint[], p_slots smallint[])
RETURNS TABLE (job_id bigint, outcome text, detail text, before jsonb, holder bigint,
               lane_id int, lane_seq bigint, slot smallint, attempt smallint)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    k record;
BEGIN
    PERFORM awa.require_read_committed();
    FOR k IN
        SELECT v.why, v.before, array_agg(v.job_id) AS ids, array_agg(v.lane_id) AS lanes, array_agg(v.lane_seq) AS seqs,
               array_agg(v.slot) AS slots
          FROM awa.since_left(p_operation, p_ids, p_lanes, p_seqs, p_slots) v GROUP BY v.why, v.before ORDER BY v.why, v.before
    LOOP
        IF k.why IS NULL THEN
            RETURN QUERY SELECT r.* FROM awa.relocate(
                k.ids, k.lanes, k.seqs, k.slots, k.before ->> 'queue', (k.before ->> 'priority')::int, k.before) r;
        ELSE
            RETURN QUERY SELECT u.id, k.why, NULL::text, NULL::jsonb, NULL::bigint, NULL::int, NULL::bigint, NULL::smallint, NULL::smallint
              FROM unnest(k.ids) u(id);
        END IF;
    END LOOP;
END $$;

-- What each of these jobs had before the operation, and why it isn't as the operation left it (null: it is).
-- moves: nothing
-- index: batch_operation_items, lanes and deferred_jobs primary keys; ready_entries (lane_id, lane_seq) for jobs that were left deferred
-- bound: the set
-- params: as awa.put_back
CREATE OR REPLACE FUNCTION awa.since_left(
    p_operation uuid, p_ids bigint[], p_lanes int[], p_seqs bigint[], p_slots smallint[])
RETURNS TABLE (job_id bigint, lane_id int, lane_seq bigint, slot smallint, why text, before jsonb)
LANGUAGE sql VOLATILE AS $$
    SELECT k.id, k.lane_id, k.lane_seq, k.slot, k.why, CASE WHEN k.why IS NULL THEN k.before END
      FROM (SELECT u.id, u.lane_id, u.lane_seq, u.slot, i.before,
                   CASE WHEN i.before IS NULL THEN 'forgotten'
                        WHEN d.state = 'waiting_external' THEN 'waiting_external'
                        ELSE awa.why_not_as_left(l.queue, l.priority, i.lane_seq, i.attempt, coalesce(d.queue, n.queue),
                                                 coalesce(d.priority, n.priority), u.lane_seq, coalesce(d.attempt, r.attempt)) END AS why
              FROM unnest(p_ids, p_lanes, p_seqs, p_slots) u(id, lane_id, lane_seq, slot)
              LEFT JOIN LATERAL (SELECT x.* FROM awa.batch_operation_items x
                                  WHERE x.operation_id = p_operation AND x.job_id = u.id AND x.state = 'processed' OFFSET 0) i ON true
              LEFT JOIN LATERAL (SELECT x.* FROM awa.lanes x WHERE x.lane_id = i.lane_id OFFSET 0) l ON true
              LEFT JOIN LATERAL (SELECT x.* FROM awa.lanes x WHERE x.lane_id = u.lane_id OFFSET 0) n ON true
              LEFT JOIN LATERAL (SELECT x.* FROM awa.deferred_jobs x WHERE x.job_id = u.id AND u.lane_id IS NULL OFFSET 0) d ON true
              LEFT JOIN LATERAL (SELECT x.attempt FROM awa.ready_entries x
                                  WHERE i.lane_seq IS NULL AND x.slot = u.slot AND x.lane_id = u.lane_id
                                    AND x.lane_seq = u.lane_seq OFFSET 0) r ON true
             OFFSET 0) k;
$$;

-- Whether a waiting job is as an operation left it (null), or why not. The one place that says what that means.
-- bound: constant
-- params: where it was left: queue, priority, position (null: it was deferred) and then its attempt; where it is now, the same
-- Left in a lane: at this very position. A job that was tried, or moved away and back, stands at another one. Left deferred: in this
-- queue with this priority, and not tried since; its time may have come and have put it into a lane.
CREATE OR REPLACE FUNCTION awa.why_not_as_left(
    p_queue text, p_priority smallint, p_seq bigint, p_attempt smallint,
    p_now_queue text, p_now_priority smallint, p_now_seq bigint, p_now_attempt smallint) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_now_queue <> p_queue OR p_now_priority <> p_priority THEN 'moved_away'
                WHEN p_seq IS NULL AND p_now_attempt = p_attempt THEN NULL
                WHEN p_seq = p_now_seq THEN NULL
                ELSE 'changed_since' END;
$$;
