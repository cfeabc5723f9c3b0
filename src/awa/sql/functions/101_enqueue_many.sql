-- Adds a set of jobs of one queue in one statement; answers where each went, in the order given.
-- moves: nothing -> available | scheduled
-- index: appends to ready_entries and deferred_jobs
-- bound: the set; the caller splits at 10,000 jobs
-- params: queue, then arrays of equal length: kinds, args (JSON text), priorities, run_ats (null: now),
--         max_attempts, tags (a JSON array of strings, or null), metadata (a JSON object, or null), ordering_keys
-- The id of the transaction comes before any position is drawn, as in awa.enqueue.
CREATE OR REPLACE FUNCTION awa.enqueue_many(
    p_queue text, p_kinds text[], p_args text[], p_priorities smallint[], p_run_ats timestamptz[],
    p_max_attempts smallint[], p_tags jsonb[], p_metadata jsonb[], p_ordering_keys text[])
RETURNS TABLE (ord int, job_id bigint, state text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    started constant timestamptz := clock_timestamp();
    shards int;
    open_slot smallint;
    lanes int[];
BEGIN
    PERFORM awa.require_read_committed();
    PERFORM awa.check_new_jobs(p_queue, p_kinds, p_priorities, p_run_ats, p_max_attempts, p_tags, p_metadata);
    SELECT coalesce((SELECT m.enqueue_shards FROM awa.queue_meta m WHERE m.queue = p_queue), 1) INTO shards;
    SELECT g.current_slot INTO open_slot FROM awa.ring g;
    -- lanes[(priority - 1) * shards + shard + 1]; made only for the priorities that occur.
    SELECT array_agg(CASE WHEN p = ANY (p_priorities) THEN awa.lane_for(p_queue, p, s) END ORDER BY p, s)
      INTO lanes FROM generate_series(1, 4) p, generate_series(0, shards - 1) s;
    RETURN QUERY
    WITH given AS MATERIALIZED (
        SELECT u.*, awa.shard_for(shards, u.ordering_key) AS shard
          FROM unnest(p_kinds, p_args, p_priorities, p_run_ats, p_max_attempts, p_tags, p_metadata, p_ordering_keys)
               WITH ORDINALITY u(kind, args, priority, run_at, max_attempts, tags, metadata, ordering_key, ord)
    ), placed AS MATERIALIZED (
        SELECT g.*, nextval('awa.job_positions') AS n, coalesce(g.run_at > started, false) AS later FROM given g
    ), ready AS (
        INSERT INTO awa.ready_entries
               (lane_seq, job_id, txid, ready_at, created_at, run_at, lane_id, slot, max_attempts, route_shard,
                kind, args, tags, metadata, route_key)
        SELECT n, n, own_txid, started, started, run_at, lanes[(priority - 1) * shards + shard + 1], open_slot, max_attempts,
               CASE WHEN ordering_key IS NOT NULL THEN shard END, kind, args::json,
               CASE WHEN tags IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(tags)) END, metadata,
               sha256(convert_to(ordering_key, 'UTF8'))
          FROM placed WHERE NOT later
    ), deferred AS (
        INSERT INTO awa.deferred_jobs
               (job_id, created_at, run_at, priority, max_attempts, route_shard, state, queue, kind, args,
                tags, metadata, route_key)
        SELECT n, started, run_at, priority, max_attempts, CASE WHEN ordering_key IS NOT NULL THEN shard END, 'scheduled',
               p_queue, kind, args::json,
               CASE WHEN tags IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(tags)) END, metadata,
               sha256(convert_to(ordering_key, 'UTF8'))
          FROM placed WHERE later
    )
    SELECT p.ord::int, p.n, CASE WHEN p.later THEN 'scheduled' ELSE 'available' END FROM placed p ORDER BY p.ord;
    PERFORM awa.notify_if_idle(p_queue);
END $$;

-- Says what is wrong with a set of new jobs before anything is written.
CREATE OR REPLACE FUNCTION awa.check_new_jobs(
    p_queue text, p_kinds text[], p_priorities smallint[], p_run_ats timestamptz[], p_max_attempts smallint[], p_tags jsonb[],
    p_metadata jsonb[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM awa.check_new_job(p_queue, k.kind, k.priority, k.max_attempts)
       FROM (SELECT DISTINCT u.kind, u.priority, u.max_attempts
               FROM unnest(p_kinds, p_priorities, p_max_attempts) u(kind, priority, max_attempts)) k;
    PERFORM awa.check_new_job_extras(x.run_at, NULL, x.metadata)
       FROM unnest(p_run_ats, p_metadata) x(run_at, metadata)
      WHERE x.run_at NOT BETWEEN '0001-01-03Z' AND '9999-12-29Z' OR jsonb_typeof(x.metadata) <> 'object'
         OR jsonb_path_exists(x.metadata, '$.**{250}');
    PERFORM awa.check_new_job_extras(NULL, ARRAY(SELECT jsonb_array_elements_text(x.tags)), NULL)
       FROM (SELECT DISTINCT u.tags FROM unnest(p_tags) u(tags) WHERE u.tags IS NOT NULL) x;
END $$;

-- Writes new jobs whose ids and recipes are known, as awa.enqueue_many does.
-- moves: nothing -> available | scheduled
-- index: appends to ready_entries and deferred_jobs
-- bound: the set
-- params: the transaction's id, taken before the ids were drawn; the time of the call; queue, ids, recipes (null: not unique),
--         and the rest as awa.enqueue_many, checked; concurrency keys (null: none) and how many jobs of each may run at once
-- Those with a concurrency key are parked, and as many as their keys have places for go on into their lanes at once.
DROP FUNCTION IF EXISTS awa.put_jobs(
    xid8, timestamptz, text, bigint[], bytea[], text[], text[], smallint[], timestamptz[], smallint[], jsonb[], jsonb[], text[]);
CREATE OR REPLACE FUNCTION awa.put_jobs(
    p_txid xid8, p_started timestamptz, p_queue text, p_ids bigint[], p_recipes bytea[], p_kinds text[], p_args text[],
    p_priorities smallint[], p_run_ats timestamptz[], p_max_attempts smallint[], p_tags jsonb[], p_metadata jsonb[],
    p_ordering_keys text[], p_keys text[] DEFAULT NULL, p_limits smallint[] DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    shards constant int := coalesce((SELECT m.enqueue_shards FROM awa.queue_meta m WHERE m.queue = p_queue), 1);
BEGIN
    WITH given AS MATERIALIZED (
        SELECT u.*, awa.shard_for(shards, u.ordering_key) AS shard, coalesce(u.run_at > p_started, false) AS later,
               CASE WHEN u.tags IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(u.tags)) END AS tag_list
          FROM unnest(p_ids, p_recipes, p_kinds, p_args, p_priorities, p_run_ats, p_max_attempts, p_tags, p_metadata, p_ordering_keys,
                      p_keys, p_limits)
               u(id, recipe, kind, args, priority, run_at, max_attempts, tags, metadata, ordering_key, key, places)
    ), lanes AS MATERIALIZED (
        SELECT k.priority, k.shard, awa.lane_for(p_queue, k.priority, k.shard) AS lane_id
          FROM (SELECT DISTINCT g.priority, g.shard FROM given g WHERE NOT g.later AND g.key IS NULL) k
    ), deferred AS (
        INSERT INTO awa.deferred_jobs
               (job_id, created_at, run_at, priority, max_attempts, route_shard, state, queue, kind, args, tags, metadata,
                unique_key, route_key, concurrency_key, concurrency_limit)
        SELECT g.id, p_started, coalesce(g.run_at, p_started), g.priority, g.max_attempts, CASE WHEN g.ordering_key IS NOT NULL THEN g.shard END,
               CASE WHEN g.later THEN 'scheduled' ELSE 'available' END, p_queue, g.kind, g.args::json, g.tag_list, g.metadata, g.recipe,
               sha256(convert_to(g.ordering_key, 'UTF8')), g.key, CASE WHEN g.key IS NOT NULL THEN g.places END
          FROM given g WHERE g.later OR g.key IS NOT NULL
    )
    INSERT INTO awa.ready_entries
           (lane_seq, job_id, txid, ready_at, created_at, run_at, lane_id, slot, max_attempts, route_shard, kind, args, tags, metadata,
            unique_key, route_key)
    SELECT g.id, g.id, p_txid, p_started, p_started, g.run_at, l.lane_id, c.current_slot, g.max_attempts,
           CASE WHEN g.ordering_key IS NOT NULL THEN g.shard END, g.kind, g.args::json, g.tag_list, g.metadata, g.recipe,
           sha256(convert_to(g.ordering_key, 'UTF8'))
      FROM given g JOIN lanes l ON l.priority = g.priority AND l.shard = g.shard CROSS JOIN awa.ring c
     WHERE NOT g.later AND g.key IS NULL;
    IF EXISTS (SELECT FROM unnest(p_keys) k WHERE k IS NOT NULL) THEN
        PERFORM awa.pause_point('enqueue.before_admission');
        PERFORM awa.admit(p_txid, ARRAY(SELECT u.key FROM unnest(p_keys, p_run_ats) u(key, run_at) WHERE (u.run_at > p_started) IS NOT TRUE));
    END IF;
END $$;
