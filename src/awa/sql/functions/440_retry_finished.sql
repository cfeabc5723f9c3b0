-- Gives failed and cancelled jobs another attempt at once, and runs deferred ones now.
-- moves: failed | cancelled | scheduled | retryable -> available
-- index: finished_jobs and deferred_jobs primary keys
-- bound: the set
-- params: job ids; answers those it moved. A job whose attempts are used up gets one more.
CREATE OR REPLACE FUNCTION awa.retry_jobs(p_ids bigint[]) RETURNS TABLE (job_id bigint)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    deferred bigint[];
BEGIN
    PERFORM awa.require_read_committed();
    SELECT array_agg(k.job_id) INTO deferred
      FROM (SELECT d.job_id FROM awa.deferred_jobs d WHERE d.job_id = ANY (p_ids) ORDER BY d.job_id FOR UPDATE SKIP LOCKED) k;
    IF deferred IS NOT NULL THEN
        PERFORM awa.make_ready(own_txid, deferred);
        RETURN QUERY SELECT unnest(deferred);
    END IF;
    RETURN QUERY
    WITH gone AS MATERIALIZED (
        DELETE FROM awa.finished_jobs f WHERE f.job_id = ANY (p_ids) AND f.state IN ('failed', 'cancelled') RETURNING f.*
    ), routed AS MATERIALIZED (
        SELECT g.*, coalesce(g.route_shard, awa.shard_for(m.enqueue_shards, NULL), 0) AS shard
          FROM gone g LEFT JOIN awa.queue_meta m ON m.queue = g.queue
    ), lanes AS MATERIALIZED (
        SELECT k.queue, k.priority, k.shard, awa.lane_for(k.queue, k.priority, k.shard) AS lane_id
          FROM (SELECT DISTINCT g.queue, g.priority, g.shard FROM routed g) k
    )
    INSERT INTO awa.ready_entries AS r
           (lane_seq, job_id, txid, created_at, run_at, lane_id, slot, attempt, max_attempts, route_shard,
            kind, args, tags, metadata, errors, unique_key, route_key)
    SELECT nextval('awa.job_positions'), k.job_id, own_txid, k.created_at, k.run_at, k.lane_id, k.current_slot, k.attempt,
           greatest(k.max_attempts, k.attempt + 1), k.route_shard, k.kind, k.args, k.tags, k.metadata, k.errors,
           k.unique_key, k.route_key
      FROM (SELECT g.*, l.lane_id, o.current_slot
              FROM routed g
              JOIN lanes l ON l.queue = g.queue AND l.priority = g.priority AND l.shard = g.shard
             CROSS JOIN awa.ring o ORDER BY g.job_id OFFSET 0) k
    RETURNING r.job_id;
    PERFORM awa.notify_if_idle(k.queue)
       FROM (SELECT DISTINCT l.queue FROM awa.ready_entries r JOIN awa.lanes l ON l.lane_id = r.lane_id
              WHERE r.job_id = ANY (p_ids) AND r.txid = own_txid) k;
END $$;
