-- Gives locked waiting jobs another queue, another priority, or both.
-- moves: available -> available (in another lane), scheduled | retryable -> the same
-- index: ready_entries (lane_id, lane_seq), deferred_jobs primary key
-- bound: the set
-- params: what awa.lock_waiting answered in this transaction (null positions: deferred), the new queue and
--         priority (null: unchanged). Answers moved | noop a job, and in `before` what it had.
-- The new row takes a new position at the end of its lane, in the old order; tombstone ranges stay behind. A retained
-- route keeps its jobs together: shard modulo the destination's width.
CREATE OR REPLACE FUNCTION awa.relocate(
    p_ids bigint[], p_lanes int[], p_seqs bigint[], p_slots smallint[], p_queue text, p_priority int)
RETURNS TABLE (job_id bigint, outcome text, detail text, before jsonb)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    target text;
BEGIN
    PERFORM awa.require_read_committed();
    RETURN QUERY SELECT * FROM awa.relocate_deferred(
        ARRAY(SELECT u.id FROM unnest(p_ids, p_lanes) u(id, lane_id) WHERE u.lane_id IS NULL), p_queue, p_priority);
    RETURN QUERY
    WITH lanes AS MATERIALIZED (
        SELECT l.*, coalesce(p_queue, l.queue) AS new_queue, coalesce(p_priority, l.priority)::smallint AS new_priority,
               coalesce((SELECT m.enqueue_shards FROM awa.queue_meta m WHERE m.queue = coalesce(p_queue, l.queue)), 1)::int AS shards
          FROM awa.lanes l WHERE l.lane_id IN (SELECT unnest(p_lanes))
    ), source AS MATERIALIZED (
        SELECT r.*, l.queue, l.priority, l.new_queue, l.new_priority,
               CASE WHEN r.route_shard IS NOT NULL THEN r.route_shard % l.shards
                    ELSE awa.shard_for(l.shards, NULL) END AS new_shard,
               l.new_queue = l.queue AND l.new_priority = l.priority AS same
          FROM unnest(p_lanes, p_seqs, p_slots) u(lane_id, lane_seq, slot)
         CROSS JOIN LATERAL (SELECT e.* FROM awa.ready_entries e
                              WHERE e.slot = u.slot AND e.lane_id = u.lane_id AND e.lane_seq = u.lane_seq OFFSET 0) r
          JOIN lanes l ON l.lane_id = r.lane_id
    ), targets AS MATERIALIZED (
        SELECT k.new_queue, k.new_priority, k.new_shard, awa.lane_for(k.new_queue, k.new_priority, k.new_shard) AS lane_id
          FROM (SELECT DISTINCT s.new_queue, s.new_priority, s.new_shard FROM source s WHERE NOT s.same) k
    ), moved AS (
        INSERT INTO awa.ready_entries
               (lane_seq, job_id, txid, created_at, run_at, lane_id, slot, attempt, max_attempts, route_shard,
                kind, args, tags, metadata, errors, unique_key, route_key)
        SELECT nextval('awa.job_positions'), k.job_id, own_txid, k.created_at, k.run_at, k.target, k.current_slot, k.attempt,
               k.max_attempts, CASE WHEN k.route_shard IS NOT NULL THEN k.new_shard END, k.kind, k.args, k.tags,
               awa.with_origin(k.metadata, k.queue, k.priority, k.new_queue, k.new_priority), k.errors, k.unique_key, k.route_key
          FROM (SELECT s.*, t.lane_id AS target, g.current_slot
                  FROM source s
                  JOIN targets t ON t.new_queue = s.new_queue AND t.new_priority = s.new_priority AND t.new_shard = s.new_shard
                 CROSS JOIN awa.ring g
                 WHERE NOT s.same ORDER BY s.lane_seq OFFSET 0) k
    ), dead AS (
        INSERT INTO awa.ready_tombstones (slot, lane_id, first_seq, last_seq, reason)
        SELECT k.slot, k.lane_id, lower(g), upper(g) - 1, 'moved'
          FROM (SELECT s.slot, s.lane_id, range_agg(int8range(s.lane_seq, s.lane_seq + 1)) AS seqs
                  FROM source s WHERE NOT s.same GROUP BY s.slot, s.lane_id) k, unnest(k.seqs) g
    )
    SELECT s.job_id, CASE WHEN s.same THEN 'noop' ELSE 'moved' END, NULL::text,
           CASE WHEN NOT s.same THEN jsonb_strip_nulls(jsonb_build_object(
               'queue', CASE WHEN s.queue <> s.new_queue THEN s.queue END,
               'priority', CASE WHEN s.priority <> s.new_priority THEN s.priority END)) END
      FROM source s;
    FOR target IN SELECT DISTINCT coalesce(p_queue, l.queue) FROM awa.lanes l WHERE l.lane_id = ANY (p_lanes) LOOP
        PERFORM awa.notify_if_idle(target);
    END LOOP;
END $$;

-- The same for deferred jobs: a guarded update of the row the caller holds.
-- moves: scheduled | retryable -> the same
-- index: deferred_jobs primary key
-- bound: the set
CREATE OR REPLACE FUNCTION awa.relocate_deferred(p_ids bigint[], p_queue text, p_priority int)
RETURNS TABLE (job_id bigint, outcome text, detail text, before jsonb)
LANGUAGE sql VOLATILE AS $$
    WITH old AS MATERIALIZED (
        SELECT d.job_id, d.queue, d.priority, coalesce(p_queue, d.queue) AS new_queue,
               coalesce(p_priority, d.priority)::smallint AS new_priority,
               coalesce((SELECT m.enqueue_shards FROM awa.queue_meta m WHERE m.queue = coalesce(p_queue, d.queue)), 1) AS shards
          FROM awa.deferred_jobs d WHERE d.job_id = ANY (p_ids)
    ), changed AS (
        UPDATE awa.deferred_jobs d
           SET queue = o.new_queue, priority = o.new_priority, route_shard = d.route_shard % o.shards,
               metadata = awa.with_origin(d.metadata, o.queue, o.priority, o.new_queue, o.new_priority)
          FROM old o
         WHERE d.job_id = o.job_id AND (o.new_queue, o.new_priority) IS DISTINCT FROM (o.queue, o.priority)
        RETURNING d.job_id
    )
    SELECT o.job_id, CASE WHEN c.job_id IS NULL THEN 'noop' ELSE 'moved' END, NULL::text,
           CASE WHEN c.job_id IS NOT NULL THEN jsonb_strip_nulls(jsonb_build_object(
               'queue', CASE WHEN o.queue <> o.new_queue THEN o.queue END,
               'priority', CASE WHEN o.priority <> o.new_priority THEN o.priority END)) END
      FROM old o LEFT JOIN changed c ON c.job_id = o.job_id;
$$;

-- Metadata with the stamps of where a job came from, each written once and only for what changes.
CREATE OR REPLACE FUNCTION awa.with_origin(
    p_metadata jsonb, p_queue text, p_priority smallint, p_new_queue text, p_new_priority smallint) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_queue <> p_new_queue THEN jsonb_build_object('_awa_original_queue', p_queue) ELSE '{}' END
        || CASE WHEN p_priority <> p_new_priority THEN jsonb_build_object('_awa_original_priority', p_priority) ELSE '{}' END
        || coalesce(p_metadata, '{}');
$$;
