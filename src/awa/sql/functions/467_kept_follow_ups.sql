-- Inserts what is to follow jobs that waited for callbacks and have ended; answers how many jobs.
-- moves: nothing -> available | scheduled
-- index: callbacks primary key; those of awa.enqueue_limited
-- bound: what the callbacks keep
-- params: arrays of equal length: callbacks whose answers have had their effect in this transaction, and the state that each led to
-- Queues in one order, so that two transactions that make the same lanes never wait for each other in a circle.
CREATE OR REPLACE FUNCTION awa.insert_kept_follow_ups(p_callbacks uuid[], p_states text[]) RETURNS int
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    q record;
    inserted int := 0;
BEGIN
    FOR q IN
        SELECT f.queue, array_agg(f.kind ORDER BY u.ord, f.n) AS kinds, array_agg(f.args ORDER BY u.ord, f.n) AS args,
               array_agg(f.priority ORDER BY u.ord, f.n) AS priorities, array_agg(f.run_at ORDER BY u.ord, f.n) AS run_ats,
               array_agg(f.max_attempts ORDER BY u.ord, f.n) AS max_attempts, array_agg(f.tags ORDER BY u.ord, f.n) AS tags,
               array_agg(f.metadata ORDER BY u.ord, f.n) AS metadata, array_agg(f.ordering_key ORDER BY u.ord, f.n) AS ordering_keys,
               array_agg(f.concurrency_key ORDER BY u.ord, f.n) AS keys, array_agg(f.concurrency_limit ORDER BY u.ord, f.n) AS limits
          FROM unnest(p_callbacks, p_states) WITH ORDINALITY u(callback_id, state, ord)
          JOIN awa.callbacks c ON c.callback_id = u.callback_id
         CROSS JOIN LATERAL ROWS FROM (jsonb_to_recordset(CASE u.state WHEN 'completed' THEN c.if_completed WHEN 'failed' THEN c.if_failed END)
               AS (queue text, kind text, args text, priority smallint, run_at timestamptz, max_attempts smallint, tags jsonb,
                   metadata jsonb, ordering_key text, concurrency_key text, concurrency_limit smallint)) WITH ORDINALITY
               f(queue, kind, args, priority, run_at, max_attempts, tags, metadata, ordering_key, concurrency_key, concurrency_limit, n)
         GROUP BY f.queue ORDER BY f.queue
    LOOP
        PERFORM awa.enqueue_limited(q.queue, q.kinds, q.args, q.priorities, q.run_ats, q.max_attempts, q.tags, q.metadata, q.ordering_keys,
                                    q.keys, q.limits);
        inserted := inserted + cardinality(q.kinds);
    END LOOP;
    RETURN inserted;
END $$;
