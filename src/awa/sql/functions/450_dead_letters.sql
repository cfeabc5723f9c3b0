-- Gives dead letters a new life: all their attempts again, in their queue or another.
-- moves: failed -> available | scheduled
-- index: dlq_entries and finished_jobs primary keys
-- bound: the set
-- params: job ids; the queue and the priority they go to (null: their own); when they run (null: now). Answers the ids moved.
-- Whoever deletes the finished row has the job; a purge that was faster leaves nothing to retry.
CREATE OR REPLACE FUNCTION awa.retry_dead_letters(
    p_ids bigint[], p_queue text DEFAULT NULL, p_priority int DEFAULT NULL, p_run_at timestamptz DEFAULT NULL)
RETURNS TABLE (job_id bigint)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    now_ constant timestamptz := clock_timestamp();
    ids bigint[];
BEGIN
    PERFORM awa.require_read_committed();
    WITH gone AS MATERIALIZED (
        DELETE FROM awa.finished_jobs f USING awa.dlq_entries d
         WHERE d.job_id = f.job_id AND f.job_id = ANY (p_ids) RETURNING f.*
    ), again AS (
        INSERT INTO awa.deferred_jobs AS a
               (job_id, created_at, run_at, deferred_at, priority, attempt, max_attempts, route_shard, state, queue, kind, args,
                tags, metadata, errors, unique_key, route_key)
        SELECT g.job_id, g.created_at, coalesce(p_run_at, now_), now_, coalesce(p_priority, g.priority), 0, g.max_attempts,
               g.route_shard % coalesce((SELECT m.enqueue_shards FROM awa.queue_meta m WHERE m.queue = coalesce(p_queue, g.queue)), 1),
               'scheduled', coalesce(p_queue, g.queue), g.kind, g.args, g.tags,
               awa.with_origin(g.metadata, g.queue, g.priority, coalesce(p_queue, g.queue), coalesce(p_priority, g.priority)::smallint),
               g.errors, g.unique_key, g.route_key
          FROM gone g
        RETURNING a.job_id
    )
    SELECT array_agg(k.job_id) INTO ids FROM again k;
    IF ids IS NULL THEN RETURN; END IF;
    IF coalesce(p_run_at, now_) <= now_ THEN
        PERFORM awa.make_ready(own_txid, ids);
        PERFORM awa.notify_if_idle(k.queue)
           FROM (SELECT DISTINCT l.queue FROM awa.ready_entries r JOIN awa.lanes l ON l.lane_id = r.lane_id
                  WHERE r.job_id = ANY (ids) AND r.txid = own_txid) k;
    END IF;
    RETURN QUERY SELECT unnest(ids);
END $$;

-- What errors with the same cause have in common: their kind and their words, without numbers and ids.
CREATE OR REPLACE FUNCTION awa.error_fingerprint(p_error jsonb) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT left(md5(coalesce(p_error->>'kind', '') || ':' ||
                    regexp_replace(left(coalesce(p_error->>'error', ''), 300), '[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|[0-9]+', '#', 'gi')), 12);
$$;
