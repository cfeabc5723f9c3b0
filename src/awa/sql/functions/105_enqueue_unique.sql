-- Adds one unique job, unless another one holds its key; answers what came of it.
-- moves: nothing -> available | scheduled
-- index: unique_keys primary key; appends to ready_entries or deferred_jobs
-- bound: one row; waits for transactions that have the key in their hands, as any unique index does
-- params: as awa.enqueue, with unique_opts as in awa.check_unique_opts. Answers the job's id and what happened: inserted | ignored |
--         replaced | conflict (the last three with the id of the holder), and the state of the new job, else null
-- The key is taken before the job is written, and who it is that holds it is read in a new statement, after whatever the
-- insert of the key waited for. A holder that is gone by then left the key free, so it is tried again.
DROP FUNCTION IF EXISTS awa.enqueue_unique(text, json, text, int, timestamptz, int, text[], jsonb, text, jsonb);  -- it knew no concurrency keys
CREATE OR REPLACE FUNCTION awa.enqueue_unique(
    kind text, args json, queue text, priority int, run_at timestamptz, max_attempts int, tags text[], metadata jsonb,
    ordering_key text, unique_opts jsonb, concurrency_key text DEFAULT NULL, concurrency_limit int DEFAULT 1, OUT job_id bigint, OUT outcome text, OUT state text, OUT created_at timestamptz)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    new_state constant text := CASE WHEN run_at > clock_timestamp() THEN 'scheduled' ELSE 'available' END;
    policy constant text := coalesce(unique_opts ->> 'on_conflict', 'reject');
    rounds_limit constant int := 100;
    new_id bigint;
    recipe bytea;
    wanted bytea;
BEGIN
    PERFORM awa.require_read_committed();
    PERFORM awa.check_new_job(queue, kind, priority, max_attempts);
    PERFORM awa.check_new_job_extras(run_at, tags, metadata);
    PERFORM awa.check_unique_opts(unique_opts);
    PERFORM awa.check_concurrency(ARRAY[concurrency_key], ARRAY[concurrency_limit::smallint]);
    created_at := clock_timestamp();
    recipe := awa.unique_recipe(kind, args, unique_opts, coalesce(run_at, created_at));
    wanted := awa.held_key(recipe, queue);
    new_id := nextval('awa.job_positions');
    FOR round IN 1 .. rounds_limit LOOP
        job_id := awa.settle_key(wanted, CASE WHEN awa.holds_key_in(recipe, new_state) THEN new_id END);
        IF job_id IS NULL OR job_id = new_id THEN
            job_id := new_id; outcome := 'inserted'; state := new_state;
            PERFORM awa.put_jobs(own_txid, created_at, queue, ARRAY[new_id], ARRAY[recipe], ARRAY[kind], ARRAY[args::text],
                                 ARRAY[priority::smallint], ARRAY[run_at], ARRAY[max_attempts::smallint], ARRAY[to_jsonb(tags)],
                                 ARRAY[metadata], ARRAY[ordering_key], ARRAY[concurrency_key], ARRAY[concurrency_limit::smallint]);
            PERFORM awa.notify_if_idle(queue);
            RETURN;
        END IF;
        outcome := CASE policy WHEN 'ignore' THEN 'ignored' WHEN 'reject' THEN 'conflict'
                               ELSE awa.replace_holder(own_txid, job_id, wanted, args, priority, run_at) END;
        EXIT WHEN outcome <> 'again';
        PERFORM pg_sleep(0.01);
    END LOOP;
    IF outcome = 'again' THEN outcome := 'conflict'; END IF;
END $$;

-- Who holds the key: the given job, if it could take it (null: it doesn't want to), another one, or nobody (null).
-- moves: nothing
-- index: unique_keys primary key
-- bound: 100 holders that vanish between two looks
CREATE OR REPLACE FUNCTION awa.settle_key(p_key bytea, p_job bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    holder bigint;
BEGIN
    FOR round IN 1 .. 100 LOOP
        IF p_job IS NOT NULL THEN
            INSERT INTO awa.unique_keys (key, job_id) VALUES (p_key, p_job) ON CONFLICT DO NOTHING;
            IF FOUND THEN RETURN p_job; END IF;
        END IF;
        PERFORM awa.pause_point('unique.after_take');
        SELECT k.job_id INTO holder FROM awa.unique_keys k WHERE k.key = p_key;
        IF holder IS NOT NULL OR p_job IS NULL THEN RETURN holder; END IF;
    END LOOP;
    RAISE EXCEPTION 'a unique key changed hands 100 times while a job waited for it' USING ERRCODE = '40001', HINT = 'Try again.';
END $$;

-- The same, answering the id of the new job or of the holder; fails with unique_violation where a conflict is refused.
DROP FUNCTION IF EXISTS awa.enqueue_or_fail(text, json, text, int, timestamptz, int, text[], jsonb, text, jsonb);
CREATE OR REPLACE FUNCTION awa.enqueue_or_fail(
    kind text, args json, queue text, priority int, run_at timestamptz, max_attempts int, tags text[], metadata jsonb,
    ordering_key text, unique_opts jsonb, concurrency_key text DEFAULT NULL, concurrency_limit int DEFAULT 1) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    done record;
BEGIN
    SELECT * INTO done FROM awa.enqueue_unique(
        kind, args, queue, priority, run_at, max_attempts, tags, metadata, ordering_key, unique_opts, concurrency_key, concurrency_limit);
    IF done.outcome = 'conflict' THEN
        RAISE EXCEPTION 'job % holds the unique key', done.job_id
            USING ERRCODE = '23505', HINT = 'on_conflict says what else may happen; awa.enqueue_unique answers the holder as a row.';
    END IF;
    RETURN done.job_id;
END $$;

-- One job, unique or not.
DROP FUNCTION IF EXISTS awa.enqueue_any(text, json, text, int, timestamptz, int, text[], jsonb, text, jsonb);
CREATE OR REPLACE FUNCTION awa.enqueue_any(
    kind text, args json, queue text, priority int, run_at timestamptz, max_attempts int, tags text[], metadata jsonb,
    ordering_key text, unique_opts jsonb, concurrency_key text DEFAULT NULL, concurrency_limit int DEFAULT 1, OUT job_id bigint, OUT outcome text, OUT state text, OUT created_at timestamptz)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
BEGIN
    IF unique_opts IS NOT NULL THEN
        SELECT u.job_id, u.outcome, u.state, u.created_at INTO job_id, outcome, state, created_at FROM awa.enqueue_unique(
            kind, args, queue, priority, run_at, max_attempts, tags, metadata, ordering_key, unique_opts, concurrency_key,
            concurrency_limit) u;
        RETURN;
    END IF;
    created_at := clock_timestamp();
    outcome := 'inserted';
    state := CASE WHEN run_at > created_at THEN 'scheduled' ELSE 'available' END;
    job_id := awa.enqueue(kind, args, queue, priority, run_at, max_attempts, tags, metadata, ordering_key, NULL, concurrency_key,
                          concurrency_limit);
END $$;

-- Who holds the key that a job like this would have; null: nobody.
-- moves: nothing
-- index: unique_keys primary key
-- bound: one row
CREATE OR REPLACE FUNCTION awa.unique_holder(kind text, args json, queue text, unique_opts jsonb, run_at timestamptz DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    wanted bytea;  -- in the query it would be worked out for each key that there is, and for none where there are none
BEGIN
    PERFORM awa.check_unique_opts(unique_opts);
    wanted := awa.held_key(awa.unique_recipe(kind, args, unique_opts, coalesce(run_at, clock_timestamp())), queue);
    RETURN (SELECT k.job_id FROM awa.unique_keys k WHERE k.key = wanted);
END $$;
