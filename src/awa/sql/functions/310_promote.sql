-- Puts jobs whose time has come into their lanes; answers how many.
-- moves: scheduled | retryable -> available
-- index: deferred_jobs (run_at, job_id) where they wait for a time
-- bound: p_limit jobs, the most overdue first; rows that someone else has locked are left for the next round
CREATE OR REPLACE FUNCTION awa.promote(p_limit int, p_now timestamptz DEFAULT NULL) RETURNS int
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off AS $$
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    due constant timestamptz := coalesce(p_now, clock_timestamp());
    ids bigint[];
    queues text[];
BEGIN
    PERFORM awa.require_read_committed();
    SELECT array_agg(k.job_id), array_agg(DISTINCT k.queue) INTO ids, queues
      FROM (SELECT d.job_id, d.queue FROM awa.deferred_jobs d WHERE d.run_at <= due AND d.state IN ('scheduled', 'retryable')
             ORDER BY d.run_at, d.job_id LIMIT p_limit FOR UPDATE SKIP LOCKED) k;
    IF ids IS NULL THEN RETURN 0; END IF;
    PERFORM awa.pause_point('promote.after_locks');
    PERFORM awa.make_ready(own_txid, ids);
    PERFORM awa.notify_if_idle(q) FROM unnest(queues) q;
    RETURN cardinality(ids);
END $$;

-- Moves deferred jobs, locked by the caller, to the end of their lanes: the one door into a lane for what was deferred. Those
-- with a concurrency key wait in front of it for a place.
-- moves: scheduled | retryable -> available
-- index: deferred_jobs primary key, then those of awa.admit
-- bound: the set
-- params: the transaction's id, taken before any position is drawn; job ids
CREATE OR REPLACE FUNCTION awa.make_ready(p_txid xid8, p_ids bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    parked record;
BEGIN
    WITH old AS MATERIALIZED (
        SELECT d.job_id, d.state, d.queue, d.unique_key, d.concurrency_key FROM awa.deferred_jobs d
         WHERE d.job_id = ANY (p_ids) AND d.concurrency_key IS NOT NULL
    ), kept AS (
        UPDATE awa.deferred_jobs d SET state = 'available', deferred_at = clock_timestamp()
          FROM old o WHERE d.job_id = o.job_id AND o.state <> 'available'
    ), keys AS MATERIALIZED (
        SELECT awa.follow_keys(array_agg(o.job_id), array_agg(o.unique_key), array_agg(o.queue), array_agg(o.state),
                               array_agg('available'::text))
          FROM old o WHERE o.unique_key IS NOT NULL HAVING count(*) > 0
    )
    SELECT array_agg(o.job_id) AS ids, array_agg(o.concurrency_key) AS keys INTO parked
      FROM old o LEFT JOIN keys ON true;  -- what nobody reads is not run
    IF parked.ids IS NULL THEN
        PERFORM awa.enter_lanes(p_txid, p_ids);
    ELSE
        PERFORM awa.enter_lanes(p_txid, ARRAY(SELECT unnest(p_ids) EXCEPT SELECT unnest(parked.ids)));
        PERFORM awa.admit(p_txid, parked.keys);
    END IF;
END $$;

-- The door itself.
-- moves: scheduled | retryable | available (parked) -> available
-- index: deferred_jobs primary key
-- bound: the set
-- params: as awa.make_ready
-- A job with a route keeps it, any other goes to one of its queue's shards by chance, as when it was enqueued.
CREATE OR REPLACE FUNCTION awa.enter_lanes(p_txid xid8, p_ids bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    WITH gone AS MATERIALIZED (
        DELETE FROM awa.deferred_jobs d WHERE d.job_id = ANY (p_ids) RETURNING d.*
    ), routed AS MATERIALIZED (
        SELECT g.*, coalesce(g.route_shard, awa.shard_for(m.enqueue_shards, NULL), 0) AS shard
          FROM gone g LEFT JOIN awa.queue_meta m ON m.queue = g.queue
    ), lanes AS MATERIALIZED (
        SELECT k.queue, k.priority, k.shard, awa.lane_for(k.queue, k.priority, k.shard) AS lane_id
          FROM (SELECT DISTINCT g.queue, g.priority, g.shard FROM routed g) k
    ), keys AS MATERIALIZED (
        SELECT awa.follow_keys(array_agg(g.job_id), array_agg(g.unique_key), array_agg(g.queue), array_agg(g.state),
                               array_agg('available'::text))
          FROM gone g WHERE g.unique_key IS NOT NULL HAVING count(*) > 0
    )
    INSERT INTO awa.ready_entries
           (lane_seq, job_id, txid, created_at, run_at, lane_id, slot, attempt, max_attempts, route_shard,
            kind, args, tags, metadata, errors, unique_key, route_key, concurrency_key, concurrency_limit)
    SELECT nextval('awa.job_positions'), k.job_id, p_txid, k.created_at, k.run_at, k.lane_id, k.current_slot, k.attempt,
           k.max_attempts, k.route_shard, k.kind, k.args, k.tags, k.metadata, k.errors, k.unique_key, k.route_key, k.concurrency_key, k.concurrency_limit
      FROM (SELECT g.*, l.lane_id, r.current_slot
              FROM routed g
              JOIN lanes l ON l.queue = g.queue AND l.priority = g.priority AND l.shard = g.shard
              CROSS JOIN awa.ring r
             ORDER BY g.run_at, g.job_id OFFSET 0) k
      LEFT JOIN keys ON true;  -- what nobody reads is not run
END $$;
