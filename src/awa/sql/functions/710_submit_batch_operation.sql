-- Submits a batch operation from SQL; answers its id. Who submitted it is the session_user, whatever role is set.
-- moves: nothing -> pending
-- index: batch_operations (idempotency_key)
-- bound: two rows
-- params: kind, filter and spec (JSON objects as in the documentation), allow_all (without a filter every job is
--         meant), a reason, priority 1 (first) to 4, max_rows_per_second (null: as fast as it goes), a key under
--         which the same submission is made only once, not_before (null: as soon as its turn comes), max_jobs (null: all that match)
-- What SQL can tell is refused here. The rest is refused by the runner before it touches a job: the operation then
-- ends as failed, with last_error.
DROP FUNCTION IF EXISTS awa.submit_batch_operation(text, jsonb, jsonb, boolean, text, int, int, text);  -- it used to take less
CREATE OR REPLACE FUNCTION awa.submit_batch_operation(
    op_kind text, filter jsonb, spec jsonb, allow_all boolean DEFAULT false, reason text DEFAULT NULL,
    priority int DEFAULT 2, max_rows_per_second int DEFAULT NULL, idempotency_key text DEFAULT NULL,
    not_before timestamptz DEFAULT NULL, max_jobs bigint DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    submitted uuid;
    existing record;
BEGIN
    PERFORM awa.check_batch_operation(op_kind, filter, spec, coalesce(allow_all, false), priority, max_rows_per_second);
    IF max_jobs < 1 THEN
        RAISE EXCEPTION 'max_jobs is 1 or more, not %', max_jobs USING ERRCODE = '22023';
    END IF;
    INSERT INTO awa.batch_operations AS o
           (op_kind, filter, spec, submitted_by, reason, priority, max_rows_per_second, idempotency_key, not_before, max_jobs)
    VALUES (op_kind, filter, spec, session_user, reason, priority, max_rows_per_second, idempotency_key, not_before, max_jobs)
    ON CONFLICT DO NOTHING RETURNING o.id INTO submitted;
    IF submitted IS NOT NULL THEN
        INSERT INTO awa.batch_operation_events (operation_id, actor, to_state, reason)
        VALUES (submitted, session_user, 'pending', reason);
        RETURN submitted;
    END IF;
    SELECT o.id, o.op_kind = op_kind AND o.filter = filter AND o.spec = spec AS same INTO existing
      FROM awa.batch_operations o WHERE o.idempotency_key = idempotency_key;
    IF existing.same IS NOT TRUE THEN
        RAISE EXCEPTION 'idempotency key % belongs to another request', idempotency_key
            USING ERRCODE = '23505', HINT = 'Use a new key for a new request.';
    END IF;
    RETURN existing.id;
END $$;

-- Says what is wrong with an operation before anything is written.
CREATE OR REPLACE FUNCTION awa.check_batch_operation(
    p_op_kind text, p_filter jsonb, p_spec jsonb, p_allow_all boolean, p_priority int, p_rate int) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    fields constant text[] := '{kind,queue,ids,tag,state,created_at_gte,created_at_lt,kinds,kind_prefix,queues,priority,'
        'tags_any,tags_all,tags_none,attempt_gte,attempt_lt,run_at_gte,run_at_lt,finalized_at_gte,finalized_at_lt,'
        'error_contains,args_contains}';
    unknown text;
BEGIN
    IF p_op_kind IS NULL OR p_op_kind NOT IN ('set_priority', 'move_queue') THEN
        RAISE EXCEPTION 'unknown kind of operation %, known are set_priority, move_queue', coalesce(quote_literal(p_op_kind), 'null')
            USING ERRCODE = '22023';
    ELSIF coalesce(jsonb_typeof(p_filter), 'null') <> 'object' OR coalesce(jsonb_typeof(p_spec), 'null') <> 'object' THEN
        RAISE EXCEPTION 'filter and spec are JSON objects' USING ERRCODE = '22023';
    ELSIF p_priority IS NULL OR p_priority NOT BETWEEN 1 AND 4 THEN
        RAISE EXCEPTION 'priority is 1 (first) to 4, not %', coalesce(p_priority::text, 'null') USING ERRCODE = '22023';
    ELSIF p_rate < 1 THEN
        RAISE EXCEPTION 'max_rows_per_second is 1 or more, not %', p_rate USING ERRCODE = '22023';
    END IF;
    SELECT k INTO unknown FROM jsonb_object_keys(p_filter) k WHERE k <> ALL (fields) LIMIT 1;
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION 'unknown field % in the filter', quote_literal(unknown)
            USING ERRCODE = '22023', HINT = 'Known are ' || array_to_string(fields, ', ') || '.';
    ELSIF NOT p_allow_all AND p_filter - 'ids' = '{}' AND coalesce(p_filter -> 'ids', '[]') = '[]' THEN
        RAISE EXCEPTION 'the filter is empty, and an operation without a filter touches every job'
            USING ERRCODE = '22023', HINT = 'Give a filter, or confirm with allow_all => true that every job is meant.';
    END IF;
END $$;
