-- Gives failed and cancelled jobs another attempt at once, and runs deferred ones now.
-- moves: failed | cancelled | scheduled | retryable -> available
-- index: finished_jobs and deferred_jobs primary keys
-- bound: the set
-- params: job ids; answers those it moved, and those that must stay because another job has their unique key: moved |
--         unique_conflict (with the holder) | locked (an open transaction has the key in its hands: try again). A job whose
--         attempts are used up gets one more; one that waits for a callback stays where it is.
DROP FUNCTION IF EXISTS awa.retry_jobs(bigint[]);  -- it used to answer the ids alone
CREATE FUNCTION awa.retry_jobs(p_ids bigint[]) RETURNS TABLE (job_id bigint, outcome text, holder bigint)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    deferred bigint[];
    kept record;
    moved record;
BEGIN
    PERFORM awa.require_read_committed();
    SELECT array_agg(k.job_id) INTO deferred
      FROM (SELECT d.job_id FROM awa.deferred_jobs d WHERE d.job_id = ANY (p_ids) AND d.state IN ('scheduled', 'retryable') ORDER BY d.job_id FOR UPDATE SKIP LOCKED) k;
    IF deferred IS NOT NULL THEN
        PERFORM awa.make_ready(own_txid, deferred);
        RETURN QUERY SELECT d, 'moved', NULL::bigint FROM unnest(deferred) d;
    END IF;
    SELECT array_agg(k.job_id) AS ids, array_agg(k.holder) AS holders INTO kept FROM awa.take_ended_keys(p_ids, NULL, 'available') k;
    RETURN QUERY SELECT k.id, CASE WHEN k.holder IS NULL THEN 'locked' ELSE 'unique_conflict' END, k.holder
                   FROM unnest(kept.ids, kept.holders) k(id, holder);
    WITH gone AS MATERIALIZED (
        DELETE FROM awa.finished_jobs f WHERE f.job_id = ANY (p_ids) AND f.state IN ('failed', 'cancelled') AND f.job_id <> ALL (coalesce(kept.ids, '{}'))
        RETURNING f.*
    ), keys AS MATERIALIZED (
        SELECT awa.drop_ended_keys(array_agg(g.job_id), array_agg(g.unique_key), array_agg(g.queue), array_agg(g.state),
                                   array_agg(g.queue), 'available')
          FROM gone g WHERE g.unique_key IS NOT NULL HAVING count(*) > 0
    ), routed AS MATERIALIZED (
        SELECT g.*, coalesce(g.route_shard, awa.shard_for(m.enqueue_shards, NULL), 0) AS shard
          FROM gone g LEFT JOIN awa.queue_meta m ON m.queue = g.queue WHERE g.concurrency_key IS NULL
    ), lanes AS MATERIALIZED (
        SELECT k.queue, k.priority, k.shard, awa.lane_for(k.queue, k.priority, k.shard) AS lane_id
          FROM (SELECT DISTINCT g.queue, g.priority, g.shard FROM routed g) k
    ), parked AS (
        INSERT INTO awa.deferred_jobs AS d
               (job_id, created_at, run_at, priority, attempt, max_attempts, route_shard, state, queue, kind, args, tags, metadata,
                errors, unique_key, route_key, concurrency_key, concurrency_limit)
        SELECT g.job_id, g.created_at, coalesce(g.run_at, g.created_at), g.priority, g.attempt, greatest(g.max_attempts, g.attempt + 1),
               g.route_shard, 'available', g.queue, g.kind, g.args, g.tags, g.metadata, g.errors, g.unique_key, g.route_key,
               g.concurrency_key, g.concurrency_limit
          FROM gone g WHERE g.concurrency_key IS NOT NULL
        RETURNING d.job_id, d.concurrency_key
    ), ready AS (
    INSERT INTO awa.ready_entries AS r
           (lane_seq, job_id, txid, created_at, run_at, lane_id, slot, attempt, max_attempts, route_shard,
            kind, args, tags, metadata, errors, unique_key, route_key, concurrency_key, concurrency_limit)
    SELECT nextval('awa.job_positions'), k.job_id, own_txid, k.created_at, k.run_at, k.lane_id, k.current_slot, k.attempt,
           greatest(k.max_attempts, k.attempt + 1), k.route_shard, k.kind, k.args, k.tags, k.metadata, k.errors,
           k.unique_key, k.route_key, k.concurrency_key, k.concurrency_limit
      FROM (SELECT g.*, l.lane_id, o.current_slot
              FROM routed g
              JOIN lanes l ON l.queue = g.queue AND l.priority = g.priority AND l.shard = g.shard
             CROSS JOIN awa.ring o ORDER BY g.job_id OFFSET 0) k
    RETURNING r.job_id
    )
    SELECT array_agg(k.job_id) AS ids, array_agg(k.concurrency_key) AS keys INTO moved
      FROM (SELECT r.job_id, NULL AS concurrency_key FROM ready r UNION ALL SELECT p.job_id, p.concurrency_key FROM parked p) k
      LEFT JOIN keys ON true;  -- what nobody reads is not run
    RETURN QUERY SELECT u, 'moved', NULL::bigint FROM unnest(moved.ids) u;
    PERFORM awa.admit(own_txid, moved.keys);
    PERFORM awa.notify_if_idle(k.queue)
       FROM (SELECT DISTINCT l.queue FROM awa.ready_entries r JOIN awa.lanes l ON l.lane_id = r.lane_id
              WHERE r.job_id = ANY (p_ids) AND r.txid = own_txid) k;
END $$;

-- Takes the keys that ended jobs need to wait again; answers those that can't have theirs, as awa.take_keys. Locks the unique ones
-- of the set, so that what it found stays as it is.
-- index: finished_jobs and unique_keys primary keys
-- bound: the set
-- params: job ids, the queue they go to (null: their own), the state they enter
CREATE OR REPLACE FUNCTION awa.take_ended_keys(p_ids bigint[], p_queue text, p_state text) RETURNS TABLE (job_id bigint, holder bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    a record;
BEGIN
    SELECT array_agg(k.job_id) AS ids, array_agg(k.unique_key) AS recipes, array_agg(coalesce(p_queue, k.queue)) AS queues,
           array_agg(p_state) AS states INTO a
      FROM (SELECT f.job_id, f.unique_key, f.queue FROM awa.finished_jobs f
             WHERE f.job_id = ANY (p_ids) AND f.state IN ('failed', 'cancelled') AND f.unique_key IS NOT NULL
             ORDER BY f.job_id FOR UPDATE) k;
    IF a.ids IS NOT NULL THEN RETURN QUERY SELECT * FROM awa.take_keys(a.ids, a.recipes, a.queues, a.states); END IF;
END $$;

-- Gives back what ended jobs held and don't hold any more, in another state or another queue.
-- index: unique_keys primary key
-- bound: the set
CREATE OR REPLACE FUNCTION awa.drop_ended_keys(
    p_ids bigint[], p_recipes bytea[], p_queues text[], p_from text[], p_new_queues text[], p_state text) RETURNS void
LANGUAGE sql VOLATILE AS $$
    SELECT awa.release_keys(array_agg(u.id), array_agg(u.recipe), array_agg(u.queue))
      FROM unnest(p_ids, p_recipes, p_queues, p_from, p_new_queues) u(id, recipe, queue, left_, new_queue)
     WHERE awa.holds_key_in(u.recipe, u.left_)
       AND NOT (awa.holds_key_in(u.recipe, p_state) AND awa.held_key(u.recipe, u.queue) = awa.held_key(u.recipe, u.new_queue))
    HAVING count(*) > 0;
$$;
