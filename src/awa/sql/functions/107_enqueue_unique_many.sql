-- Adds a set of jobs of one queue of which some are unique; answers what came of each, in the order given.
-- moves: nothing -> available | scheduled
-- index: unique_keys primary key; appends to ready_entries and deferred_jobs
-- bound: the set; the caller splits at 10,000 jobs
-- params: as awa.enqueue_many, the unique options of each (null: not unique), and concurrency keys and limits as awa.enqueue_limited. A row a job: inserted | ignored | replaced, as
--         awa.enqueue_unique; or, if a conflict is to be refused for any of them, nothing is written and the rows are those
--         of the conflicts alone, with their holders (null: the holder is a job of this very set).
-- Two jobs with the same key in one set behave like two inserts. Keys are taken in their own order, so that two sets with the
-- same keys wait for each other, and not in a circle. Replacing goes job by job, because the second may replace the first.
DROP FUNCTION IF EXISTS awa.enqueue_unique_many(
    text, text[], text[], smallint[], timestamptz[], smallint[], jsonb[], jsonb[], text[], jsonb[]);  -- it knew no concurrency keys
CREATE OR REPLACE FUNCTION awa.enqueue_unique_many(
    p_queue text, p_kinds text[], p_args text[], p_priorities smallint[], p_run_ats timestamptz[],
    p_max_attempts smallint[], p_tags jsonb[], p_metadata jsonb[], p_ordering_keys text[], p_unique jsonb[],
    p_concurrency_keys text[] DEFAULT NULL, p_limits smallint[] DEFAULT NULL)
RETURNS TABLE (ord int, job_id bigint, outcome text, state text, created_at timestamptz)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    started constant timestamptz := clock_timestamp();
    a record;
    wanted record;
    taken record;
BEGIN
    PERFORM awa.require_read_committed();
    PERFORM awa.check_new_jobs(p_queue, p_kinds, p_priorities, p_run_ats, p_max_attempts, p_tags, p_metadata);
    PERFORM awa.check_concurrency(p_concurrency_keys, p_limits);
    PERFORM awa.check_unique_opts(o) FROM (SELECT DISTINCT unnest(p_unique) AS o) k;
    IF EXISTS (SELECT FROM unnest(p_unique) o WHERE o ->> 'on_conflict' = 'replace') THEN
        RETURN QUERY SELECT * FROM awa.enqueue_unique_each(
            p_queue, p_kinds, p_args, p_priorities, p_run_ats, p_max_attempts, p_tags, p_metadata, p_ordering_keys, p_unique,
            p_concurrency_keys, p_limits);
        RETURN;
    END IF;
    SELECT array_agg(k.id ORDER BY k.ord) AS ids, array_agg(k.recipe ORDER BY k.ord) AS recipes,
           array_agg(awa.held_key(k.recipe, p_queue) ORDER BY k.ord) AS keys,
           array_agg(CASE WHEN k.run_at > started THEN 'scheduled' ELSE 'available' END ORDER BY k.ord) AS states INTO a
      FROM (SELECT u.ord, u.run_at, nextval('awa.job_positions') AS id,
                   CASE WHEN u.opts IS NOT NULL THEN awa.unique_recipe(u.kind, u.args::json, u.opts, coalesce(u.run_at, started)) END AS recipe
              FROM unnest(p_kinds, p_args, p_run_ats, p_unique) WITH ORDINALITY u(kind, args, run_at, opts, ord)) k;
    SELECT array_agg(k.key ORDER BY k.key) AS keys, array_agg(k.id ORDER BY k.key) AS ids INTO wanted
      FROM (SELECT u.key, min(u.id) FILTER (WHERE awa.holds_key_in(u.recipe, u.state)) AS id
              FROM unnest(a.ids, a.recipes, a.keys, a.states) u(id, recipe, key, state) WHERE u.key IS NOT NULL GROUP BY u.key) k;
    SELECT wanted.keys, awa.settle_keys(wanted.keys, wanted.ids) AS holders INTO taken;
    -- Whose key was taken by a job before it, of this set or another.
    RETURN QUERY
    SELECT u.ord::int, CASE WHEN t.holder <> ALL (a.ids) THEN t.holder END, 'conflict', NULL::text, started
      FROM unnest(a.ids, a.keys, p_unique) WITH ORDINALITY u(id, key, opts, ord)
      JOIN unnest(taken.keys, taken.holders) t(key, holder) ON t.key = u.key
     WHERE t.holder <> u.id AND (t.holder < u.id OR t.holder <> ALL (a.ids)) AND u.opts ->> 'on_conflict' IS DISTINCT FROM 'ignore'
     ORDER BY u.ord;
    IF FOUND THEN
        DELETE FROM awa.unique_keys k USING unnest(taken.keys, taken.holders) t(key, holder)
         WHERE k.key = t.key AND k.job_id = t.holder AND t.holder = ANY (a.ids);
        RETURN;
    END IF;
    RETURN QUERY
    WITH settled AS MATERIALIZED (
        SELECT u.*, CASE WHEN t.holder < u.id OR t.holder <> ALL (a.ids) THEN t.holder END AS holder
          FROM unnest(a.ids, a.recipes, a.keys, a.states, p_kinds, p_args, p_priorities, p_run_ats, p_max_attempts, p_tags, p_metadata,
                      p_ordering_keys, p_concurrency_keys, p_limits) WITH ORDINALITY
               u(id, recipe, key, state, kind, args, priority, run_at, max_attempts, tags, metadata, ordering_key, concurrency_key,
                 concurrency_limit, ord)
          LEFT JOIN unnest(taken.keys, taken.holders) t(key, holder) ON t.key = u.key AND t.holder <> u.id
    ), put AS MATERIALIZED (
        SELECT awa.put_jobs(own_txid, started, p_queue, array_agg(s.id ORDER BY s.ord), array_agg(s.recipe ORDER BY s.ord),
                            array_agg(s.kind ORDER BY s.ord), array_agg(s.args ORDER BY s.ord), array_agg(s.priority ORDER BY s.ord),
                            array_agg(s.run_at ORDER BY s.ord), array_agg(s.max_attempts ORDER BY s.ord),
                            array_agg(s.tags ORDER BY s.ord), array_agg(s.metadata ORDER BY s.ord),
                            array_agg(s.ordering_key ORDER BY s.ord), array_agg(s.concurrency_key ORDER BY s.ord),
                            array_agg(s.concurrency_limit ORDER BY s.ord))
          FROM settled s WHERE s.holder IS NULL HAVING count(*) > 0
    )
    SELECT s.ord::int, coalesce(s.holder, s.id), CASE WHEN s.holder IS NULL THEN 'inserted' ELSE 'ignored' END,
           CASE WHEN s.holder IS NULL THEN s.state END, started
      FROM settled s LEFT JOIN put ON true ORDER BY s.ord;
    PERFORM awa.notify_if_idle(p_queue);
END $$;

-- Who holds each of these keys: the given job, if it could take it (null: it doesn't want to), another one, or nobody (null).
-- moves: nothing
-- index: unique_keys primary key
-- bound: the set; 100 rounds of those whose holder vanishes between two looks
-- params: keys in ascending order, each once, and jobs
CREATE OR REPLACE FUNCTION awa.settle_keys(p_keys bytea[], p_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    holders bigint[] := array_fill(NULL::bigint, ARRAY[coalesce(cardinality(p_keys), 0)]);
BEGIN
    IF p_keys IS NULL THEN RETURN NULL; END IF;
    FOR round IN 1 .. 100 LOOP
        INSERT INTO awa.unique_keys (key, job_id)
        SELECT u.key, u.id FROM unnest(p_keys, p_ids, holders) WITH ORDINALITY u(key, id, holder, ord)
         WHERE u.id IS NOT NULL AND u.holder IS NULL ORDER BY u.ord
        ON CONFLICT DO NOTHING;
        PERFORM awa.pause_point('unique.after_take');
        SELECT array_agg(coalesce(u.holder, k.job_id) ORDER BY u.ord) INTO holders
          FROM unnest(p_keys, holders) WITH ORDINALITY u(key, holder, ord) LEFT JOIN awa.unique_keys k ON k.key = u.key;
        IF NOT EXISTS (SELECT FROM unnest(p_ids, holders) u(id, holder) WHERE u.id IS NOT NULL AND u.holder IS NULL) THEN
            RETURN holders;
        END IF;
    END LOOP;
    RAISE EXCEPTION 'unique keys changed hands 100 times while jobs waited for them' USING ERRCODE = '40001', HINT = 'Try again.';
END $$;

-- The same job by job, as single inserts would go; all of it undone if one of them is refused.
-- index: those of awa.enqueue_unique
-- bound: the set
-- params: as awa.enqueue_unique_many
DROP FUNCTION IF EXISTS awa.enqueue_unique_each(
    text, text[], text[], smallint[], timestamptz[], smallint[], jsonb[], jsonb[], text[], jsonb[]);  -- it knew no concurrency keys
CREATE OR REPLACE FUNCTION awa.enqueue_unique_each(
    p_queue text, p_kinds text[], p_args text[], p_priorities smallint[], p_run_ats timestamptz[],
    p_max_attempts smallint[], p_tags jsonb[], p_metadata jsonb[], p_ordering_keys text[], p_unique jsonb[],
    p_concurrency_keys text[] DEFAULT NULL, p_limits smallint[] DEFAULT NULL)
RETURNS TABLE (ord int, job_id bigint, outcome text, state text, created_at timestamptz)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    one record;
    ids bigint[] := '{}';
    outcomes text[] := '{}';
    states text[] := '{}';
    fresh bigint[] := '{}';
    started constant timestamptz := clock_timestamp();
BEGIN
    BEGIN
        FOR i IN 1 .. coalesce(cardinality(p_kinds), 0) LOOP
            SELECT * INTO one FROM awa.enqueue_any(
                p_kinds[i], p_args[i]::json, p_queue, p_priorities[i], p_run_ats[i], p_max_attempts[i],
                CASE WHEN p_tags[i] IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(p_tags[i])) END, p_metadata[i],
                p_ordering_keys[i], p_unique[i], p_concurrency_keys[i], coalesce(p_limits[i], 1));
            ids := ids || one.job_id; outcomes := outcomes || one.outcome; states := states || one.state;
            IF one.outcome = 'inserted' THEN fresh := fresh || one.job_id; END IF;
        END LOOP;
        IF 'conflict' = ANY (outcomes) THEN RAISE EXCEPTION 'undone' USING ERRCODE = 'AW003'; END IF;
        RETURN QUERY SELECT u.ord::int, u.id, u.outcome, u.state, started
                       FROM unnest(ids, outcomes, states) WITH ORDINALITY u(id, outcome, state, ord);
    EXCEPTION WHEN SQLSTATE 'AW003' THEN
        RETURN QUERY SELECT u.ord::int, CASE WHEN u.id <> ALL (fresh) THEN u.id END, u.outcome, NULL::text, started
                       FROM unnest(ids, outcomes) WITH ORDINALITY u(id, outcome, ord) WHERE u.outcome = 'conflict';
    END;
END $$;
