-- Gives jobs that are about to move the keys of their new queue, and takes those of the old one back; answers the jobs that can't
-- have theirs, with the holder, as awa.take_keys. Those are not to move.
-- moves: nothing
-- index: ready_entries (lane_id, lane_seq), deferred_jobs and unique_keys primary keys
-- bound: the set; jobs whose key doesn't name the queue are read and left alone
-- params: what awa.lock_waiting answered in this transaction (null positions: deferred), the new queue
CREATE OR REPLACE FUNCTION awa.move_keys(p_ids bigint[], p_lanes int[], p_seqs bigint[], p_slots smallint[], p_queue text)
RETURNS TABLE (job_id bigint, holder bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    a record;
    kept bigint[];
    holders bigint[];
BEGIN
    SELECT array_agg(k.id) AS ids, array_agg(k.recipe) AS recipes, array_agg(k.queue) AS queues, array_agg(p_queue) AS new_queues,
           array_agg(k.state) AS states INTO a
      FROM (SELECT r.job_id AS id, r.unique_key AS recipe, l.queue, 'available' AS state
              FROM (SELECT w.slot, w.lane_id, array_agg(w.lane_seq) AS seqs
                      FROM unnest(p_lanes, p_seqs, p_slots) w(lane_id, lane_seq, slot) GROUP BY w.slot, w.lane_id OFFSET 0) g
              JOIN awa.lanes l ON l.lane_id = g.lane_id AND l.queue <> p_queue
             CROSS JOIN LATERAL (SELECT e.job_id, e.unique_key FROM awa.ready_entries e
                                  WHERE e.slot = g.slot AND e.lane_id = g.lane_id AND e.lane_seq = ANY (g.seqs) OFFSET 0) r
             WHERE r.unique_key IS NOT NULL
            UNION ALL
            SELECT d.job_id, d.unique_key, d.queue, d.state FROM awa.deferred_jobs d
             WHERE d.job_id = ANY (ARRAY(SELECT u.id FROM unnest(p_ids, p_lanes) u(id, lane_id) WHERE u.lane_id IS NULL))
               AND d.queue <> p_queue AND d.unique_key IS NOT NULL AND d.state <> 'waiting_external') k
     WHERE awa.held_key(k.recipe, k.queue) <> awa.held_key(k.recipe, p_queue);
    IF a.ids IS NULL THEN RETURN; END IF;
    SELECT array_agg(k.job_id), array_agg(k.holder) INTO kept, holders
      FROM awa.take_keys(a.ids, a.recipes, a.new_queues, a.states) k;
    RETURN QUERY SELECT * FROM unnest(kept, holders);
    PERFORM awa.release_keys(array_agg(u.id), array_agg(u.recipe), array_agg(u.queue))
       FROM unnest(a.ids, a.recipes, a.queues) u(id, recipe, queue) WHERE u.id <> ALL (coalesce(kept, '{}'));
END $$;
