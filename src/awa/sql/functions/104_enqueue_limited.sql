-- Adds jobs of one queue of which some have concurrency keys; answers where each went, in the order given.
-- moves: nothing -> available | scheduled
-- index: appends to ready_entries and deferred_jobs, then those of awa.admit
-- bound: the set; the caller splits at 10,000 jobs
-- params: as awa.enqueue_many, then arrays of the keys (null: none) and of how many jobs of each may run at once
CREATE OR REPLACE FUNCTION awa.enqueue_limited(
    p_queue text, p_kinds text[], p_args text[], p_priorities smallint[], p_run_ats timestamptz[],
    p_max_attempts smallint[], p_tags jsonb[], p_metadata jsonb[], p_ordering_keys text[],
    p_keys text[], p_limits smallint[])
RETURNS TABLE (ord int, job_id bigint, state text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    started constant timestamptz := clock_timestamp();
    ids bigint[];
BEGIN
    PERFORM awa.require_read_committed();
    PERFORM awa.check_new_jobs(p_queue, p_kinds, p_priorities, p_run_ats, p_max_attempts, p_tags, p_metadata);
    PERFORM awa.check_concurrency(p_keys, p_limits);
    ids := ARRAY(SELECT nextval('awa.job_positions') FROM generate_series(1, cardinality(p_kinds)));
    PERFORM awa.put_jobs(own_txid, started, p_queue, ids, NULL, p_kinds, p_args, p_priorities, p_run_ats, p_max_attempts, p_tags,
                         p_metadata, p_ordering_keys, p_keys, p_limits);
    PERFORM awa.notify_if_idle(p_queue);
    RETURN QUERY SELECT u.ord::int, u.id, CASE WHEN u.run_at > started THEN 'scheduled' ELSE 'available' END
                   FROM unnest(ids, p_run_ats) WITH ORDINALITY u(id, run_at, ord);
END $$;

-- Says what is wrong with concurrency keys and their limits before anything is written.
CREATE OR REPLACE FUNCTION awa.check_concurrency(p_keys text[], p_limits smallint[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    k record;
BEGIN
    FOR k IN SELECT DISTINCT u.key, u.places FROM unnest(p_keys, p_limits) u(key, places) WHERE u.key IS NOT NULL LOOP
        IF length(k.key) NOT BETWEEN 1 AND 200 THEN
            RAISE EXCEPTION 'a concurrency key has 1 to 200 characters, this one has %', length(k.key) USING ERRCODE = '22023';
        ELSIF k.places IS NULL OR k.places NOT BETWEEN 1 AND 1000 THEN
            RAISE EXCEPTION 'concurrency_limit is 1 to 1000, not %', coalesce(k.places::text, 'null') USING ERRCODE = '22023';
        END IF;
        PERFORM awa.check_name('a concurrency key', k.key);
    END LOOP;
END $$;
