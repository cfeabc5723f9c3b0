-- Adds one job, in the caller's own transaction; answers its id.
-- moves: nothing -> available | scheduled
-- index: appends to ready_entries or deferred_jobs
-- bound: one row; takes no lock that outlives the statement
-- params: kind, args (a JSON document), queue, priority 1 (first) to 4, run_at (null: now), max_attempts,
--         tags, metadata (a JSON object), ordering_key (jobs with the same key keep their order of dispatch), unique_opts
--         (null: not unique; else as in awa.check_unique_opts). Answers the holder's id where on_conflict is ignore or replace,
--         and fails with unique_violation where it is reject; awa.enqueue_unique answers the conflict instead. concurrency_key:
--         of the jobs with the same one at most concurrency_limit run at once
-- The transaction must have its id before it holds a position: a claim passes a position over only when it can
-- tell from the ids of running transactions that the row may still come.
DROP FUNCTION IF EXISTS awa.enqueue(text, json, text, int, timestamptz, int, text[], jsonb, text);  -- it knew no unique jobs
DROP FUNCTION IF EXISTS awa.enqueue(text, json, text, int, timestamptz, int, text[], jsonb, text, jsonb);  -- and no concurrency keys
CREATE OR REPLACE FUNCTION awa.enqueue(
    kind text, args json DEFAULT '{}', queue text DEFAULT 'default', priority int DEFAULT 2,
    run_at timestamptz DEFAULT NULL, max_attempts int DEFAULT 25, tags text[] DEFAULT NULL,
    metadata jsonb DEFAULT NULL, ordering_key text DEFAULT NULL, unique_opts jsonb DEFAULT NULL,
    concurrency_key text DEFAULT NULL, concurrency_limit int DEFAULT 1) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    started constant timestamptz := clock_timestamp();
    shards int;
    shard int;
    position_ bigint;
BEGIN
    IF unique_opts IS NOT NULL THEN
        RETURN awa.enqueue_or_fail(kind, args, queue, priority, run_at, max_attempts, tags, metadata, ordering_key, unique_opts,
                                   concurrency_key, concurrency_limit);
    ELSIF concurrency_key IS NOT NULL THEN
        RETURN (SELECT e.job_id FROM awa.enqueue_limited(
            queue, ARRAY[kind], ARRAY[args::text], ARRAY[priority::smallint], ARRAY[run_at], ARRAY[max_attempts::smallint],
            ARRAY[to_jsonb(tags)], ARRAY[metadata], ARRAY[ordering_key], ARRAY[concurrency_key], ARRAY[concurrency_limit::smallint]) e);
    END IF;
    PERFORM awa.require_read_committed();
    PERFORM awa.check_new_job(queue, kind, priority, max_attempts);
    IF run_at IS NOT NULL OR tags IS NOT NULL OR metadata IS NOT NULL THEN
        PERFORM awa.check_new_job_extras(run_at, tags, metadata);
    END IF;
    SELECT m.enqueue_shards INTO shards FROM awa.queue_meta m WHERE m.queue = enqueue.queue;
    shard := awa.shard_for(coalesce(shards, 1), ordering_key);
    IF run_at > started THEN
        INSERT INTO awa.deferred_jobs AS d
               (job_id, created_at, run_at, priority, max_attempts, route_shard, state, queue, kind, args,
                tags, metadata, route_key)
        VALUES (nextval('awa.job_positions'), started, run_at, priority, max_attempts,
                CASE WHEN ordering_key IS NOT NULL THEN shard END, 'scheduled', queue, kind, args,
                tags, metadata, sha256(convert_to(ordering_key, 'UTF8')))
        RETURNING d.job_id INTO position_;
        RETURN position_;
    END IF;
    PERFORM awa.pause_point('enqueue.before_position');
    INSERT INTO awa.ready_entries AS r
           (lane_seq, job_id, txid, ready_at, created_at, run_at, lane_id, slot, max_attempts, route_shard, kind, args, tags,
            metadata, route_key)
    SELECT p.n, p.n, own_txid, started, started, run_at, awa.lane_for(queue, priority, shard), g.current_slot, max_attempts,
           CASE WHEN ordering_key IS NOT NULL THEN shard END, kind, args, tags, metadata,
           sha256(convert_to(ordering_key, 'UTF8'))
      FROM awa.ring g, nextval('awa.job_positions') p(n)
    RETURNING r.job_id INTO position_;
    PERFORM awa.notify_if_idle(queue);
    RETURN position_;
END $$;

-- Says what is wrong with a new job before anything is written.
CREATE OR REPLACE FUNCTION awa.check_new_job(p_queue text, p_kind text, p_priority int, p_max_attempts int) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF coalesce(length(p_queue), 0) NOT BETWEEN 1 AND 200 THEN
        RAISE EXCEPTION 'a queue name has 1 to 200 characters, this one has %', coalesce(length(p_queue), 0) USING ERRCODE = '22023';
    ELSIF coalesce(length(p_kind), 0) NOT BETWEEN 1 AND 200 THEN
        RAISE EXCEPTION 'a kind has 1 to 200 characters, this one has %', coalesce(length(p_kind), 0) USING ERRCODE = '22023';
    ELSIF p_priority IS NULL OR p_priority NOT BETWEEN 1 AND 4 THEN
        RAISE EXCEPTION 'priority is 1 (first) to 4, not %', coalesce(p_priority::text, 'null') USING ERRCODE = '22023';
    ELSIF p_max_attempts IS NULL OR p_max_attempts NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'max_attempts is 1 to 1000, not %', coalesce(p_max_attempts::text, 'null') USING ERRCODE = '22023';
    END IF;
    PERFORM awa.check_name('a queue name', p_queue);
    PERFORM awa.check_name('a kind', p_kind);
END $$;

-- Refuses what no filter can name: white space around a name (a blank one is nothing else), and control characters.
-- The white space is that of Unicode, as the clients have it, whatever the locale of the database says.
CREATE OR REPLACE FUNCTION awa.check_name(p_what text, p_name text) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF p_name ~ '[\u0001-\u001f\u007f]' THEN
        RAISE EXCEPTION '% must not hold control characters: %', p_what, to_json(p_name) USING ERRCODE = '22023';
    ELSIF p_name ~ '^[\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]'
       OR p_name ~ '[\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$' THEN
        RAISE EXCEPTION '% must not be blank, or begin or end with white space: %', p_what, to_json(p_name) USING ERRCODE = '22023';
    END IF;
END $$;

-- Says what is wrong with what a new job need not have. A time that drivers can't hold would break every list that shows it.
CREATE OR REPLACE FUNCTION awa.check_new_job_extras(p_run_at timestamptz, p_tags text[], p_metadata jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF p_run_at NOT BETWEEN '0001-01-03Z' AND '9999-12-29Z' THEN
        RAISE EXCEPTION 'run_at is a time within the years 1 to 9999, not %', p_run_at USING ERRCODE = '22023';
    ELSIF array_position(p_tags, NULL) IS NOT NULL THEN
        RAISE EXCEPTION 'tags are texts, one of these is null' USING ERRCODE = '22023';
    ELSIF cardinality(p_tags) > 100 THEN
        RAISE EXCEPTION 'a job has at most 100 tags, this one has %', cardinality(p_tags) USING ERRCODE = '22023';
    ELSIF EXISTS (SELECT FROM unnest(p_tags) t WHERE length(t) NOT BETWEEN 1 AND 200) THEN
        RAISE EXCEPTION 'a tag has 1 to 200 characters, one of these has more or none' USING ERRCODE = '22023';
    ELSIF jsonb_typeof(p_metadata) <> 'object' THEN
        RAISE EXCEPTION 'metadata is a JSON object, not %', jsonb_typeof(p_metadata) USING ERRCODE = '22023';
    ELSIF jsonb_path_exists(p_metadata, '$.**{250}') THEN
        -- A claim reads metadata for the worker: a document that its parser gives up on would hold up the whole queue.
        RAISE EXCEPTION 'metadata is nested more than 250 levels deep' USING ERRCODE = '22023';
    END IF;
    PERFORM awa.check_name('a tag', t) FROM unnest(p_tags) t;
END $$;
