-- Cancels locked waiting jobs; a callback that one waits for finds nothing any more.
-- moves: available | scheduled | retryable | waiting_external -> cancelled
-- index: ready_entries (lane_id, lane_seq), deferred_jobs primary key
-- bound: the set
-- params: what awa.lock_waiting answered in this transaction (null positions: deferred); a reason for the job's errors or null
CREATE OR REPLACE FUNCTION awa.cancel_waiting(
    p_ids bigint[], p_lanes int[], p_seqs bigint[], p_slots smallint[], p_reason text DEFAULT NULL)
RETURNS TABLE (job_id bigint)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    now_ constant timestamptz := clock_timestamp();
    error constant jsonb := jsonb_build_object('error', coalesce(p_reason, 'cancelled by an operator'), 'kind', 'Cancelled');
    done record;
BEGIN
    PERFORM awa.require_read_committed();
    WITH source AS MATERIALIZED (
        SELECT r.*, l.queue, l.priority
          FROM unnest(p_lanes, p_seqs, p_slots) u(lane_id, lane_seq, slot)
         CROSS JOIN LATERAL (SELECT e.* FROM awa.ready_entries e
                              WHERE e.slot = u.slot AND e.lane_id = u.lane_id AND e.lane_seq = u.lane_seq OFFSET 0) r
          JOIN awa.lanes l ON l.lane_id = r.lane_id
    ), gone AS MATERIALIZED (
        DELETE FROM awa.deferred_jobs d
         USING unnest(p_ids, p_lanes) u(id, lane_id)
         WHERE u.lane_id IS NULL AND d.job_id = u.id RETURNING d.*
    ), dead AS MATERIALIZED (
        SELECT awa.leave_lanes(array_agg(s.lane_id), array_agg(s.lane_seq), array_agg(s.slot), 'cancelled') AS done FROM source s
    ), keys AS MATERIALIZED (
        SELECT awa.follow_keys(array_agg(u.job_id), array_agg(u.unique_key), array_agg(u.queue), array_agg(u.state),
                               array_agg('cancelled'::text))
          FROM (SELECT s.job_id, s.unique_key, s.queue, 'available' AS state FROM source s WHERE s.unique_key IS NOT NULL
                UNION ALL
                SELECT g.job_id, g.unique_key, g.queue, g.state FROM gone g WHERE g.unique_key IS NOT NULL) u
        HAVING count(*) > 0
    ), cancelled AS (
    INSERT INTO awa.finished_jobs AS f
           (job_id, created_at, run_at, finalized_at, priority, attempt, max_attempts, route_shard, state, queue,
            kind, args, tags, metadata, errors, unique_key, route_key, concurrency_key, concurrency_limit)
    SELECT s.job_id, s.created_at, s.run_at, now_, s.priority, s.attempt, s.max_attempts, s.route_shard, 'cancelled', s.queue,
           s.kind, s.args, s.tags, s.metadata, awa.with_error(s.errors, error, s.attempt, now_, 25), s.unique_key, s.route_key, s.concurrency_key, s.concurrency_limit
      FROM source s CROSS JOIN dead LEFT JOIN keys ON true  -- what nobody reads is not run
    UNION ALL
    SELECT g.job_id, g.created_at, g.run_at, now_, g.priority, g.attempt, g.max_attempts, g.route_shard, 'cancelled', g.queue,
           g.kind, g.args, g.tags, g.metadata, awa.with_error(g.errors, error, g.attempt, now_, 25), g.unique_key, g.route_key, g.concurrency_key, g.concurrency_limit
      FROM gone g LEFT JOIN keys ON true
    RETURNING f.job_id, f.concurrency_key
    )
    SELECT array_agg(c.job_id) AS ids, array_agg(c.job_id) FILTER (WHERE c.concurrency_key IS NOT NULL) AS keyed,
           array_agg(c.concurrency_key) FILTER (WHERE c.concurrency_key IS NOT NULL) AS keys INTO done
      FROM cancelled c;
    -- A new statement: none of those that were cancelled together is let in on behalf of another.
    IF done.keyed IS NOT NULL THEN PERFORM awa.release_places(own_txid, done.keyed, done.keys); END IF;
    RETURN QUERY SELECT unnest(done.ids);
END $$;

-- Cancels running jobs: their attempts end now, the workers hear of it and what their handlers still say changes nothing.
-- moves: running -> cancelled
-- index: ready_entries (job_id), lane_claims gist (seqs)
-- bound: the set
-- params: job ids, a reason or null; answers those that were running
CREATE OR REPLACE FUNCTION awa.cancel_running(p_ids bigint[], p_reason text DEFAULT NULL)
RETURNS TABLE (job_id bigint, lane_seq bigint, runtime_id uuid)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    a record;
    error constant jsonb := jsonb_build_object('error', coalesce(p_reason, 'cancelled by an operator'), 'kind', 'Cancelled');
BEGIN
    PERFORM awa.require_read_committed();
    SELECT array_agg(k.job_id) AS ids, array_agg(k.lane_id) AS lanes, array_agg(k.claim_no) AS nos,
           array_agg(k.lane_seq) AS seqs, array_agg(k.runtime_id) AS runtimes,
           array_agg(error || jsonb_build_object('runtime_id', k.runtime_id)) AS errors INTO a
      FROM awa.running_attempts(p_ids) k;
    IF a.ids IS NULL THEN RETURN; END IF;
    RETURN QUERY
    SELECT u.id, f.lane_seq, u.runtime_id
      FROM awa.finish(NULL, a.lanes, a.nos, a.seqs, array_fill('cancelled'::text, ARRAY[cardinality(a.ids)]), NULL, a.errors) f
      JOIN unnest(a.ids, a.seqs, a.runtimes) u(id, lane_seq, runtime_id) ON u.lane_seq = f.lane_seq;
    -- Workers listen; whoever doesn't, hears it at the next heartbeat. 7,000 bytes keep below NOTIFY's limit.
    PERFORM pg_notify('awa_control', json_build_object('cancelled', json_agg(k.seq))::text)
       FROM (SELECT seq, (row_number() OVER () - 1) / 300 AS part FROM unnest(a.seqs) seq) k GROUP BY k.part;
END $$;
