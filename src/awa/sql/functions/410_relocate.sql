-- Gives locked waiting jobs another queue, another priority, or both.
-- moves: available -> available (in another lane), scheduled | retryable -> the same
-- index: ready_entries (lane_id, lane_seq), deferred_jobs primary key
-- bound: the set
-- params: what awa.lock_waiting answered in this transaction (null positions: deferred), the new queue and
--         priority (null: unchanged). Answers moved | noop a job, and in `before` what it had; unique_conflict with the holder
--         for a job whose key in the new queue is another's; locked for one whose key there an open transaction has in its hands;
--         waiting_external for one that waits for a callback, which changes nothing.
-- The new row takes a new position at the end of its lane, in the old order; tombstone ranges stay behind. A retained
-- route keeps its jobs together: shard modulo the destination's width.
DROP FUNCTION IF EXISTS awa.relocate(bigint[], int[], bigint[], smallint[], text, int);  -- it used to answer no holder
CREATE FUNCTION awa.relocate(
    p_ids bigint[], p_lanes int[], p_seqs bigint[], p_slots smallint[], p_queue text, p_priority int)
RETURNS TABLE (job_id bigint, outcome text, detail text, before jsonb, holder bigint)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    way record;
    kept record;
BEGIN
    PERFORM awa.require_read_committed();
    IF p_queue IS NOT NULL THEN
        SELECT array_agg(k.job_id) AS ids, array_agg(k.holder) AS holders INTO kept
          FROM awa.move_keys(p_ids, p_lanes, p_seqs, p_slots, p_queue) k;
        IF kept.ids IS NOT NULL THEN
            RETURN QUERY
            SELECT k.id, CASE WHEN k.holder IS NULL THEN 'locked' ELSE 'unique_conflict' END,
                   format('job %s holds its unique key in queue %s', k.holder, p_queue), NULL::jsonb, k.holder
              FROM unnest(kept.ids, kept.holders) k(id, holder);
            SELECT coalesce(array_agg(u.id), '{}'), coalesce(array_agg(u.lane_id), '{}'), coalesce(array_agg(u.lane_seq), '{}'),
                   coalesce(array_agg(u.slot), '{}') INTO p_ids, p_lanes, p_seqs, p_slots
              FROM unnest(p_ids, p_lanes, p_seqs, p_slots) u(id, lane_id, lane_seq, slot) WHERE u.id <> ALL (kept.ids);
        END IF;
    END IF;
    RETURN QUERY SELECT d.*, NULL::bigint FROM awa.relocate_deferred(
        ARRAY(SELECT u.id FROM unnest(p_ids, p_lanes) u(id, lane_id) WHERE u.lane_id IS NULL), p_queue, p_priority) d;
    SELECT * INTO way FROM awa.ways_out(p_lanes, p_queue, p_priority);
    PERFORM awa.relocate_ready(own_txid, p_lanes, p_seqs, p_slots, way.lanes, way.widths, way.firsts, way.stamps, way.targets);
    PERFORM awa.notify_if_idle(q.queue)
       FROM (SELECT DISTINCT l.queue FROM awa.lanes l WHERE l.lane_id = ANY (way.targets)) q;
    RETURN QUERY
    SELECT u.id, CASE WHEN m.lane_id IS NULL THEN 'noop' ELSE 'moved' END, NULL::text, m.before, NULL::bigint
      FROM unnest(p_ids, p_lanes) u(id, lane_id)
      LEFT JOIN unnest(way.lanes, way.befores) m(lane_id, before) ON m.lane_id = u.lane_id
     WHERE u.lane_id IS NOT NULL;
END $$;

-- What a change of queue or priority means for each lane it takes jobs from, worked out once a lane and not once a job.
-- moves: nothing; makes the destination's lanes
-- index: lanes primary key
-- bound: the lanes, times the width of the destination
-- params: lanes, queue, priority. Answers arrays by lane that is left (lanes where nothing changes are not in them): the
--         destination's width, where its targets begin, the stamp for metadata, what the jobs had; and the targets.
CREATE OR REPLACE FUNCTION awa.ways_out(
    p_lanes int[], p_queue text, p_priority int,
    OUT lanes int[], OUT widths int[], OUT firsts int[], OUT stamps jsonb[], OUT befores jsonb[], OUT targets int[])
LANGUAGE sql VOLATILE AS $$
    WITH left_lanes AS MATERIALIZED (
        SELECT l.lane_id, l.queue, l.priority, coalesce(p_queue, l.queue) AS new_queue,
               coalesce(p_priority, l.priority)::smallint AS new_priority,
               coalesce((SELECT m.enqueue_shards FROM awa.queue_meta m WHERE m.queue = coalesce(p_queue, l.queue)), 1)::int AS width
          FROM awa.lanes l
         WHERE l.lane_id IN (SELECT unnest(p_lanes))
           AND (coalesce(p_queue, l.queue), coalesce(p_priority, l.priority)) <> (l.queue, l.priority)
    ), destinations AS MATERIALIZED (
        SELECT k.*, awa.lane_for(k.new_queue, k.new_priority, k.shard) AS target
          FROM (SELECT DISTINCT l.new_queue, l.new_priority, s.shard
                  FROM left_lanes l, generate_series(0, l.width - 1) s(shard)) k
    ), ways AS (
        SELECT l.*, d.shard, d.target, (row_number() OVER (ORDER BY l.lane_id, d.shard))::int AS place
          FROM left_lanes l JOIN destinations d ON d.new_queue = l.new_queue AND d.new_priority = l.new_priority
    )
    SELECT array_agg(w.lane_id ORDER BY w.place) FILTER (WHERE w.shard = 0),
           array_agg(w.width ORDER BY w.place) FILTER (WHERE w.shard = 0),
           array_agg(w.place ORDER BY w.place) FILTER (WHERE w.shard = 0),
           array_agg(awa.with_origin(NULL, w.queue, w.priority, w.new_queue, w.new_priority) ORDER BY w.place) FILTER (WHERE w.shard = 0),
           array_agg(awa.what_changes(w.queue, w.priority, w.new_queue, w.new_priority) ORDER BY w.place) FILTER (WHERE w.shard = 0),
           array_agg(w.target ORDER BY w.place)
      FROM ways w;
$$;

-- The same for deferred jobs: a guarded update of the row the caller holds.
-- moves: scheduled | retryable -> the same
-- index: deferred_jobs primary key
-- bound: the set
CREATE OR REPLACE FUNCTION awa.relocate_deferred(p_ids bigint[], p_queue text, p_priority int)
RETURNS TABLE (job_id bigint, outcome text, detail text, before jsonb)
LANGUAGE sql VOLATILE AS $$
    WITH old AS MATERIALIZED (
        SELECT d.job_id, d.queue, d.priority, d.state = 'waiting_external' AS waits, coalesce(p_queue, d.queue) AS new_queue,
               coalesce(p_priority, d.priority)::smallint AS new_priority,
               coalesce((SELECT m.enqueue_shards FROM awa.queue_meta m WHERE m.queue = coalesce(p_queue, d.queue)), 1) AS shards
          FROM awa.deferred_jobs d WHERE d.job_id = ANY (p_ids)
    ), changed AS (
        UPDATE awa.deferred_jobs d
           SET queue = o.new_queue, priority = o.new_priority, route_shard = d.route_shard % o.shards,
               metadata = awa.with_origin(d.metadata, o.queue, o.priority, o.new_queue, o.new_priority)
          FROM old o
         WHERE d.job_id = o.job_id AND NOT o.waits AND (o.new_queue, o.new_priority) IS DISTINCT FROM (o.queue, o.priority)
        RETURNING d.job_id
    )
    SELECT o.job_id, CASE WHEN o.waits THEN 'waiting_external' WHEN c.job_id IS NULL THEN 'noop' ELSE 'moved' END, NULL::text,
           CASE WHEN c.job_id IS NOT NULL THEN awa.what_changes(o.queue, o.priority, o.new_queue, o.new_priority) END
      FROM old o LEFT JOIN changed c ON c.job_id = o.job_id;
$$;

-- Metadata with the stamps of where a job came from, each written once and only for what changes.
CREATE OR REPLACE FUNCTION awa.with_origin(
    p_metadata jsonb, p_queue text, p_priority smallint, p_new_queue text, p_new_priority smallint) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_queue <> p_new_queue THEN jsonb_build_object('_awa_original_queue', p_queue) ELSE '{}' END
        || CASE WHEN p_priority <> p_new_priority THEN jsonb_build_object('_awa_original_priority', p_priority) ELSE '{}' END
        || coalesce(p_metadata, '{}');
$$;

-- What a job had of what changes, as the items of an operation keep it.
CREATE OR REPLACE FUNCTION awa.what_changes(
    p_queue text, p_priority smallint, p_new_queue text, p_new_priority smallint) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object(
        'queue', CASE WHEN p_queue <> p_new_queue THEN p_queue END,
        'priority', CASE WHEN p_priority <> p_new_priority THEN p_priority END));
$$;
