-- Gives locked waiting jobs another queue, another priority, or both.
-- moves: available -> available (in another lane), scheduled | retryable -> the same
-- index: ready_entries (lane_id, lane_seq), deferred_jobs primary key
-- bound: the set
-- params: what awa.lock_waiting answered in this transaction (null positions: deferred), the new queue and
--         priority (null: unchanged), and what the jobs had before, if they are put back (awa.put_back; null: they are moved and
--         stamped). Answers moved | noop a job, in `before` what it had, and where it is now (a deferred one: a lane of its
--         queue and priority, no position, and its attempt); unique_conflict with the holder
--         for a job whose key in the new queue is another's; locked for one whose key there an open transaction has in its hands;
--         waiting_external for one that waits for a callback, which changes nothing.
-- The new row takes a new position at the end of its lane, in the old order; tombstone ranges stay behind. A retained
-- route keeps its jobs together: shard modulo the destination's width.
DROP FUNCTION IF EXISTS awa.relocate(bigint[], int[], bigint[], smallint[], text, int);  -- it used to answer no place
CREATE OR REPLACE FUNCTION awa.relocate(
    p_ids bigint[], p_lanes int[], p_seqs bigint[], p_slots smallint[], p_queue text, p_priority int, p_before jsonb DEFAULT NULL)
RETURNS TABLE (job_id bigint, outcome text, detail text, before jsonb, holder bigint,
               lane_id int, lane_seq bigint, slot smallint, attempt smallint)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    way record;
    kept record;
    had record;
    placed record;
BEGIN
    PERFORM awa.require_read_committed();
    IF p_queue IS NOT NULL THEN
        SELECT array_agg(k.job_id) AS ids, array_agg(k.holder) AS holders INTO kept
          FROM awa.move_keys(p_ids, p_lanes, p_seqs, p_slots, p_queue) k;
        IF kept.ids IS NOT NULL THEN
            RETURN QUERY
            SELECT k.id, CASE WHEN k.holder IS NULL THEN 'locked' ELSE 'unique_conflict' END,
                   format('job %s holds its unique key in queue %s', k.holder, p_queue), NULL::jsonb, k.holder,
                   NULL::int, NULL::bigint, NULL::smallint, NULL::smallint
              FROM unnest(kept.ids, kept.holders) k(id, holder);
            SELECT coalesce(array_agg(u.id), '{}'), coalesce(array_agg(u.lane_id), '{}'), coalesce(array_agg(u.lane_seq), '{}'),
                   coalesce(array_agg(u.slot), '{}') INTO p_ids, p_lanes, p_seqs, p_slots
              FROM unnest(p_ids, p_lanes, p_seqs, p_slots) u(id, lane_id, lane_seq, slot) WHERE u.id <> ALL (kept.ids);
        END IF;
    END IF;
    RETURN QUERY SELECT d.job_id, d.outcome, NULL::text, d.before, NULL::bigint, d.lane_id, NULL::bigint, NULL::smallint, d.attempt
      FROM awa.relocate_deferred(
        ARRAY(SELECT u.id FROM unnest(p_ids, p_lanes) u(id, lane_id) WHERE u.lane_id IS NULL), p_queue, p_priority, p_before) d;
    SELECT * INTO way FROM awa.ways_out(p_lanes, p_queue, p_priority);
    -- Before the jobs go. Where each position is the job's id, none of them was ever elsewhere: that costs one comparison.
    SELECT k.ids, k.stamps INTO had FROM awa.stamps_of(p_ids, p_lanes, p_seqs, p_slots) k WHERE p_seqs IS DISTINCT FROM p_ids;
    SELECT * INTO placed FROM awa.relocate_ready(
        own_txid, p_lanes, p_seqs, p_slots, way.lanes, way.widths, way.firsts, way.stamps, way.targets, p_before);
    PERFORM awa.notify_if_idle(q.queue)
       FROM (SELECT DISTINCT l.queue FROM awa.lanes l WHERE l.lane_id = ANY (way.targets)) q;
    IF had.ids IS NULL AND placed.routed IS NULL AND cardinality(way.lanes) = 1 THEN
        -- All that moved had the same, which is the usual case: nothing to look up for each of them.
        RETURN QUERY
        SELECT n.id, 'moved', NULL::text, way.befores[1], NULL::bigint, n.lane_id, n.lane_seq, placed.slot, NULL::smallint
          FROM unnest(placed.ids, placed.lanes, placed.seqs) n(id, lane_id, lane_seq);
        RETURN QUERY
        SELECT u.id, 'noop', NULL::text, NULL::jsonb, NULL::bigint, NULL::int, NULL::bigint, NULL::smallint, NULL::smallint
          FROM unnest(p_ids, p_lanes) u(id, lane_id) WHERE u.lane_id <> way.lanes[1];
        RETURN;
    END IF;
    RETURN QUERY
    SELECT r.job_id, r.outcome, NULL::text, r.before, NULL::bigint, r.lane_id, r.lane_seq,
           CASE WHEN r.lane_seq IS NOT NULL THEN placed.slot END, NULL::smallint
      FROM awa.relocated(p_ids, p_lanes, way.lanes, way.befores, way.shards, had.ids, had.stamps,
                         placed.ids, placed.lanes, placed.seqs, placed.routed, placed.shards) r;
END $$;

-- What became of the jobs that were in lanes: noop, or moved with what each had before and where it is now.
-- moves: nothing
-- index: none
-- bound: the set
-- params: arrays by job: id and lane; by lane that was left: what its jobs had, and its shard; by job that had stamps: these; by job
--         that was moved: where it is; by job with a retained route: its shard now
-- Joined by hashing: the planner knows nothing of the arrays' lengths, and would go through all of one for each of another.
CREATE OR REPLACE FUNCTION awa.relocated(
    p_ids bigint[], p_lanes int[], p_left int[], p_befores jsonb[], p_shards smallint[], p_had bigint[], p_stamps jsonb[],
    p_placed bigint[], p_now_lanes int[], p_now_seqs bigint[], p_routed bigint[], p_now_shards smallint[])
RETURNS TABLE (job_id bigint, outcome text, before jsonb, lane_id int, lane_seq bigint)
LANGUAGE sql VOLATILE SET enable_nestloop = off AS $$
    SELECT u.id, CASE WHEN m.lane_id IS NULL THEN 'noop' ELSE 'moved' END,
           CASE WHEN s.stamps IS NULL AND (t.shard = m.shard) IS NOT FALSE THEN m.before
                ELSE awa.with_more(m.before, s.stamps, nullif(m.shard, coalesce(t.shard, m.shard))) END,
           n.lane_id, n.lane_seq
      FROM unnest(p_ids, p_lanes) u(id, lane_id)
      LEFT JOIN unnest(p_left, p_befores, p_shards) m(lane_id, before, shard) ON m.lane_id = u.lane_id
      LEFT JOIN unnest(p_placed, p_now_lanes, p_now_seqs) n(id, lane_id, lane_seq) ON n.id = u.id
      LEFT JOIN unnest(p_routed, p_now_shards) t(id, shard) ON t.id = u.id
      LEFT JOIN unnest(p_had, p_stamps) s(id, stamps) ON s.id = u.id
     WHERE u.lane_id IS NOT NULL;
$$;

-- Which of these jobs are stamped already, and with what.
-- moves: nothing
-- index: ready_entries (lane_id, lane_seq)
-- bound: those of the set that have been in another place before: a new job's position is its id
-- params: arrays of equal length: job, lane, position, slot (null positions: deferred, left out)
CREATE OR REPLACE FUNCTION awa.stamps_of(
    p_ids bigint[], p_lanes int[], p_seqs bigint[], p_slots smallint[], OUT ids bigint[], OUT stamps jsonb[])
LANGUAGE sql VOLATILE AS $$
    SELECT array_agg(r.job_id), array_agg(r.stamps)
      FROM (SELECT w.slot, w.lane_id, array_agg(w.lane_seq ORDER BY w.lane_seq) AS seqs
              FROM unnest(p_ids, p_lanes, p_seqs, p_slots) w(id, lane_id, lane_seq, slot)
             WHERE w.lane_seq <> w.id GROUP BY w.slot, w.lane_id OFFSET 0) g
     CROSS JOIN LATERAL (SELECT e.job_id, awa.only_stamps(e.metadata) AS stamps FROM awa.ready_entries e
                          WHERE e.slot = g.slot AND e.lane_id = g.lane_id AND e.lane_seq = ANY (g.seqs) OFFSET 0) r
     WHERE r.stamps IS NOT NULL;
$$;

-- What a change of queue or priority means for each lane it takes jobs from, worked out once a lane and not once a job.
-- moves: nothing; makes the destination's lanes
-- index: lanes primary key
-- bound: the lanes, times the width of the destination
-- params: lanes, queue, priority. Answers arrays by lane that is left (lanes where nothing changes are not in them): the
--         destination's width, where its targets begin, the stamp for metadata, what the jobs had, its shard; and the targets.
DROP FUNCTION IF EXISTS awa.ways_out(int[], text, int);  -- it used to answer no shards
CREATE FUNCTION awa.ways_out(
    p_lanes int[], p_queue text, p_priority int,
    OUT lanes int[], OUT widths int[], OUT firsts int[], OUT stamps jsonb[], OUT befores jsonb[], OUT shards smallint[], OUT targets int[])
LANGUAGE sql VOLATILE AS $$
    WITH left_lanes AS MATERIALIZED (
        SELECT l.lane_id, l.queue, l.priority, l.enqueue_shard, coalesce(p_queue, l.queue) AS new_queue,
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
           array_agg(w.enqueue_shard ORDER BY w.place) FILTER (WHERE w.shard = 0),
           array_agg(w.target ORDER BY w.place)
      FROM ways w;
$$;

-- The same for deferred jobs: a guarded update of the row the caller holds.
-- moves: scheduled | retryable -> the same
-- index: deferred_jobs primary key
-- bound: the set
-- params: job ids, queue, priority, what they had before (all as awa.relocate)
DROP FUNCTION IF EXISTS awa.relocate_deferred(bigint[], text, int);  -- it used to answer no place
CREATE OR REPLACE FUNCTION awa.relocate_deferred(p_ids bigint[], p_queue text, p_priority int, p_before jsonb)
RETURNS TABLE (job_id bigint, outcome text, before jsonb, lane_id int, attempt smallint)
LANGUAGE sql VOLATILE AS $$
    WITH old AS MATERIALIZED (
        SELECT d.job_id, d.queue, d.priority, d.attempt, d.state = 'waiting_external' AS waits, d.route_shard,
               awa.only_stamps(d.metadata) AS stamps, coalesce(p_queue, d.queue) AS new_queue,
               coalesce(p_priority, d.priority)::smallint AS new_priority,
               (coalesce((p_before ->> 'shard')::int, d.route_shard)
                % coalesce((SELECT m.enqueue_shards FROM awa.queue_meta m WHERE m.queue = coalesce(p_queue, d.queue)), 1))::smallint AS new_shard
          FROM awa.deferred_jobs d WHERE d.job_id = ANY (p_ids)
    ), changed AS (
        UPDATE awa.deferred_jobs d
           SET queue = o.new_queue, priority = o.new_priority, route_shard = CASE WHEN o.route_shard IS NOT NULL THEN o.new_shard END,
               metadata = CASE WHEN p_before IS NOT NULL THEN awa.as_before(d.metadata, p_before)
                               ELSE awa.with_origin(d.metadata, o.queue, o.priority, o.new_queue, o.new_priority) END
          FROM old o
         WHERE d.job_id = o.job_id AND NOT o.waits AND (o.new_queue, o.new_priority) IS DISTINCT FROM (o.queue, o.priority)
        RETURNING d.job_id
    ), places AS MATERIALIZED (
        SELECT k.*, awa.lane_for(k.new_queue, k.new_priority) AS lane_id
          FROM (SELECT DISTINCT o.new_queue, o.new_priority FROM old o JOIN changed c ON c.job_id = o.job_id) k
    )
    SELECT o.job_id, CASE WHEN o.waits THEN 'waiting_external' WHEN c.job_id IS NULL THEN 'noop' ELSE 'moved' END,
           CASE WHEN c.job_id IS NOT NULL
                THEN awa.with_more(awa.what_changes(o.queue, o.priority, o.new_queue, o.new_priority), o.stamps,
                                   nullif(o.route_shard, o.new_shard)) END,
           p.lane_id, CASE WHEN c.job_id IS NOT NULL THEN o.attempt END
      FROM old o
      LEFT JOIN changed c ON c.job_id = o.job_id
      LEFT JOIN places p ON c.job_id IS NOT NULL AND p.new_queue = o.new_queue AND p.new_priority = o.new_priority;
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

-- The same with what not all jobs have: the stamps that were there already for what changes, and the shard of a retained route.
CREATE OR REPLACE FUNCTION awa.with_more(p_before jsonb, p_stamps jsonb, p_shard smallint) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT p_before || jsonb_strip_nulls(jsonb_build_object('shard', p_shard, 'metadata', nullif(jsonb_strip_nulls(jsonb_build_object(
               '_awa_original_queue', CASE WHEN p_before ? 'queue' THEN p_stamps -> '_awa_original_queue' END,
               '_awa_original_priority', CASE WHEN p_before ? 'priority' THEN p_stamps -> '_awa_original_priority' END)), '{}')));
$$;

-- The stamps in a job's metadata; null: there are none.
CREATE OR REPLACE FUNCTION awa.only_stamps(p_metadata jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_metadata ?| '{_awa_original_queue,_awa_original_priority}'
                THEN jsonb_strip_nulls(jsonb_build_object('_awa_original_queue', p_metadata -> '_awa_original_queue',
                                                          '_awa_original_priority', p_metadata -> '_awa_original_priority')) END;
$$;

-- Metadata of a job that is put back: of the stamps for what changes, those that it had before and no others.
CREATE OR REPLACE FUNCTION awa.as_before(p_metadata jsonb, p_before jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
    SELECT nullif((coalesce(p_metadata, '{}') - array_remove(ARRAY[
                       CASE WHEN p_before ? 'queue' THEN '_awa_original_queue' END,
                       CASE WHEN p_before ? 'priority' THEN '_awa_original_priority' END], NULL))
                  || coalesce(p_before -> 'metadata', '{}'), '{}');
$$;
