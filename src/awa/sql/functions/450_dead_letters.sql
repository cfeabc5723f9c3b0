-- Gives dead letters a new life: all their attempts again, in their queue or another.
-- moves: failed -> available | scheduled
-- index: dlq_entries and finished_jobs primary keys
-- bound: the set
-- params: job ids; the queue and the priority they go to (null: their own); when they run (null: now). Answers as awa.retry_jobs:
--         those moved, and those that stay dead letters because another job has the unique key they would need.
-- Whoever deletes the finished row has the job; a purge that was faster leaves nothing to retry.
DROP FUNCTION IF EXISTS awa.retry_dead_letters(bigint[], text, int, timestamptz);  -- it used to answer the ids alone
CREATE FUNCTION awa.retry_dead_letters(
    p_ids bigint[], p_queue text DEFAULT NULL, p_priority int DEFAULT NULL, p_run_at timestamptz DEFAULT NULL)
RETURNS TABLE (job_id bigint, outcome text, holder bigint)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    now_ constant timestamptz := clock_timestamp();
    new_state constant text := CASE WHEN p_run_at > now_ THEN 'scheduled' ELSE 'available' END;
    ids bigint[];
    kept record;
BEGIN
    PERFORM awa.require_read_committed();
    SELECT array_agg(k.job_id) AS ids, array_agg(k.holder) AS holders INTO kept
      FROM awa.take_ended_keys(ARRAY(SELECT d.job_id FROM awa.dlq_entries d WHERE d.job_id = ANY (p_ids)), p_queue, new_state) k;
    RETURN QUERY SELECT k.id, CASE WHEN k.holder IS NULL THEN 'locked' ELSE 'unique_conflict' END, k.holder
                   FROM unnest(kept.ids, kept.holders) k(id, holder);
    WITH gone AS MATERIALIZED (
        DELETE FROM awa.finished_jobs f USING awa.dlq_entries d
         WHERE d.job_id = f.job_id AND f.job_id = ANY (p_ids) AND f.job_id <> ALL (coalesce(kept.ids, '{}')) RETURNING f.*
    ), keys AS MATERIALIZED (
        SELECT awa.drop_ended_keys(array_agg(g.job_id), array_agg(g.unique_key), array_agg(g.queue), array_agg(g.state),
                                   array_agg(coalesce(p_queue, g.queue)), new_state)
          FROM gone g WHERE g.unique_key IS NOT NULL HAVING count(*) > 0
    ), again AS (
        INSERT INTO awa.deferred_jobs AS a
               (job_id, created_at, run_at, deferred_at, priority, attempt, max_attempts, route_shard, state, queue, kind, args,
                tags, metadata, errors, unique_key, route_key, concurrency_key, concurrency_limit)
        SELECT g.job_id, g.created_at, coalesce(p_run_at, now_), now_, coalesce(p_priority, g.priority), 0, g.max_attempts,
               g.route_shard % coalesce((SELECT m.enqueue_shards FROM awa.queue_meta m WHERE m.queue = coalesce(p_queue, g.queue)), 1),
               'scheduled', coalesce(p_queue, g.queue), g.kind, g.args, g.tags,
               awa.with_origin(g.metadata, g.queue, g.priority, coalesce(p_queue, g.queue), coalesce(p_priority, g.priority)::smallint),
               g.errors, g.unique_key, g.route_key, g.concurrency_key, g.concurrency_limit
          FROM gone g LEFT JOIN keys ON true  -- what nobody reads is not run
        RETURNING a.job_id
    )
    SELECT array_agg(k.job_id) INTO ids FROM again k;
    IF ids IS NULL THEN RETURN; END IF;
    IF new_state = 'available' THEN
        PERFORM awa.make_ready(own_txid, ids);
        PERFORM awa.notify_if_idle(k.queue)
           FROM (SELECT DISTINCT l.queue FROM awa.ready_entries r JOIN awa.lanes l ON l.lane_id = r.lane_id
                  WHERE r.job_id = ANY (ids) AND r.txid = own_txid) k;
    END IF;
    RETURN QUERY SELECT d, 'moved', NULL::bigint FROM unnest(ids) d;
END $$;

-- What errors with the same cause have in common: their kind and their words, without numbers and ids.
CREATE OR REPLACE FUNCTION awa.error_fingerprint(p_error jsonb) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT left(md5(coalesce(p_error->>'kind', '') || ':' ||
                    regexp_replace(left(coalesce(p_error->>'error', ''), 300), '[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|[0-9]+', '#', 'gi')), 12);
$$;
