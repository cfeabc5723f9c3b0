-- Jobs with a concurrency key: at most so many of a key are in lanes or run. Each has a row in concurrency_admissions, at one
-- of its key's places; the others are parked, in deferred_jobs as available. Whoever sees a place free takes the place's
-- lock, tried and not waited for, looks again *in a new statement*, and then has it. Who ends an admitted job owns its place and
-- hands it on to the next parked one. So nobody waits for anybody, and a transaction that stays open keeps a place at most.

-- Lets parked jobs of these keys into their lanes, as far as there are places; answers how many.
-- moves: available (parked) -> available
-- index: deferred_jobs (concurrency_key, priority, job_id), concurrency_admissions primary key
-- bound: 500 jobs a transaction, since each keeps a lock until it ends; what is left, awa.admit_waiting finds
-- params: the transaction's id, taken before any position is drawn; keys
-- A place that can't be had just now is not waited for: whoever has it hands it on, or awa.admit_waiting comes by.
CREATE OR REPLACE FUNCTION awa.admit(p_txid xid8, p_keys text[]) RETURNS int
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    admissions_max constant int := awa.admissions_max();
    before constant int := coalesce(nullif(current_setting('awa.admissions', true), '')::int, 0);
    key_ text;
    admitted bigint[] := '{}';
BEGIN
    FOR key_ IN SELECT DISTINCT k FROM unnest(p_keys) k WHERE k IS NOT NULL ORDER BY k LOOP
        EXIT WHEN before + cardinality(admitted) >= admissions_max;
        admitted := admitted || awa.take_places(key_, admissions_max - before - cardinality(admitted));
    END LOOP;
    IF cardinality(admitted) > 0 THEN
        PERFORM set_config('awa.admissions', (before + cardinality(admitted))::text, true);
        PERFORM awa.enter_lanes_of_keys(p_txid, admitted);
    END IF;
    RETURN cardinality(admitted);
END $$;

-- How many jobs a transaction lets in.
CREATE OR REPLACE FUNCTION awa.admissions_max() RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT 500; $$;

-- Gives the free places of a key to the parked jobs that are first; answers these, locked.
-- index: as awa.admit
-- bound: p_limit jobs; the key's places
-- In order: while a job may not go yet, those behind it stay, too.
CREATE OR REPLACE FUNCTION awa.take_places(p_key text, p_limit int) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    used constant int := (SELECT count(*) FROM awa.concurrency_admissions a WHERE a.key = p_key);
    free int;
    parked record;
    taken bigint[] := '{}';
BEGIN
    SELECT least(p_limit, d.concurrency_limit - used) INTO free
      FROM awa.deferred_jobs d WHERE d.state = 'available' AND d.concurrency_key = p_key
     ORDER BY d.priority, d.job_id LIMIT 1;
    IF coalesce(free, 0) <= 0 THEN RETURN taken; END IF;
    SELECT array_agg(k.job_id) AS ids, array_agg(k.concurrency_limit) AS limits INTO parked
      FROM (SELECT d.job_id, d.concurrency_limit FROM awa.deferred_jobs d
             WHERE d.state = 'available' AND d.concurrency_key = p_key
             ORDER BY d.priority, d.job_id LIMIT free FOR UPDATE SKIP LOCKED) k;
    PERFORM awa.pause_point('admit.after_parked');
    FOR n IN 1 .. coalesce(cardinality(parked.ids), 0) LOOP
        EXIT WHEN used + n > parked.limits[n] OR NOT awa.take_place(p_key, parked.ids[n], parked.limits[n]);
        taken := taken || parked.ids[n];
    END LOOP;
    RETURN taken;
END $$;

-- Gives a job one of its key's places; answers whether there was one to be had.
-- index: concurrency_admissions primary key
-- bound: the key's places
CREATE OR REPLACE FUNCTION awa.take_place(p_key text, p_job bigint, p_places int) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    free int;
BEGIN
    FOR free IN SELECT g FROM generate_series(1, p_places) g
                 WHERE NOT EXISTS (SELECT FROM awa.concurrency_admissions a WHERE a.key = p_key AND a.place = g) ORDER BY g LOOP
        PERFORM awa.pause_point('admit.before_lock');
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(4718, hashtext(format('%s %s', free, p_key)));
        -- A new statement: who had the lock before has committed, and may have taken the place.
        INSERT INTO awa.concurrency_admissions (key, place, job_id)
        SELECT p_key, free, p_job
         WHERE NOT EXISTS (SELECT FROM awa.concurrency_admissions a WHERE a.key = p_key AND a.place = free);
        IF FOUND THEN RETURN true; END IF;
    END LOOP;
    RETURN false;
END $$;

-- Hands the places of jobs that end, or leave their lanes, on to the parked jobs that are next; those that nobody wants are free.
-- moves: available (parked) -> available
-- index: as awa.admit
-- bound: the set
-- params: the transaction's id, taken before any position is drawn; jobs that the caller's transaction ends, and their keys
-- The row stays where somebody is next, so a place that is handed on is never seen free. No lock: the job's own is enough.
CREATE OR REPLACE FUNCTION awa.release_places(p_txid xid8, p_ids bigint[], p_keys text[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    leaving record;
    next_ids bigint[];
    admitted bigint[] := '{}';
    again text[] := '{}';   -- somebody waits who may not have these places, but perhaps another one
BEGIN
    FOR leaving IN
        SELECT a.key, array_agg(a.place ORDER BY a.place) AS places
          FROM (SELECT DISTINCT u.id, u.key FROM unnest(p_ids, p_keys) u(id, key)) u
          JOIN awa.concurrency_admissions a ON a.key = u.key AND a.job_id = u.id
         GROUP BY a.key ORDER BY a.key
    LOOP
        next_ids := awa.next_parked(leaving.key, leaving.places);
        UPDATE awa.concurrency_admissions a SET job_id = u.id
          FROM unnest(leaving.places, next_ids) u(place, id)
         WHERE a.key = leaving.key AND a.place = u.place AND u.id IS NOT NULL;
        admitted := admitted || next_ids;
        CONTINUE WHEN cardinality(next_ids) = cardinality(leaving.places);
        DELETE FROM awa.concurrency_admissions a
         WHERE a.key = leaving.key AND a.place = ANY (leaving.places[cardinality(next_ids) + 1:]);
        -- Only in this form is it the key's index that is used: another one has all that is parked, of any key.
        IF EXISTS (SELECT FROM (SELECT d.job_id FROM awa.deferred_jobs d
                                 WHERE d.state = 'available' AND d.concurrency_key = leaving.key
                                 ORDER BY d.priority, d.job_id LIMIT cardinality(next_ids) + 1) k
                    WHERE k.job_id <> ALL (next_ids)) THEN
            again := again || leaving.key;
        END IF;
    END LOOP;
    IF cardinality(admitted) > 0 THEN PERFORM awa.enter_lanes_of_keys(p_txid, admitted); END IF;
    IF cardinality(again) > 0 THEN PERFORM awa.admit(p_txid, again); END IF;
    PERFORM awa.pause_point('release.before_end');
END $$;

-- The parked jobs of a key that may have these places, in order, locked; at most one a place.
-- index: deferred_jobs (concurrency_key, priority, job_id), concurrency_admissions primary key
-- bound: the places
CREATE OR REPLACE FUNCTION awa.next_parked(p_key text, p_places smallint[]) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    -- Those that others have: what is handed on is counted as it goes.
    used constant int := (SELECT count(*) FROM awa.concurrency_admissions a WHERE a.key = p_key) - cardinality(p_places);
    parked record;
    next_ids bigint[] := '{}';
BEGIN
    SELECT array_agg(k.job_id) AS ids, array_agg(k.concurrency_limit) AS limits INTO parked
      FROM (SELECT d.job_id, d.concurrency_limit FROM awa.deferred_jobs d
             WHERE d.state = 'available' AND d.concurrency_key = p_key
             ORDER BY d.priority, d.job_id LIMIT cardinality(p_places) FOR UPDATE SKIP LOCKED) k;
    PERFORM awa.pause_point('release.after_parked');
    FOR n IN 1 .. coalesce(cardinality(parked.ids), 0) LOOP
        EXIT WHEN used + n > parked.limits[n] OR p_places[n] > parked.limits[n];
        next_ids := next_ids || parked.ids[n];
    END LOOP;
    RETURN next_ids;
END $$;

-- Puts jobs that have a place of their key, locked by the caller, into their lanes, and wakes who may run them.
CREATE OR REPLACE FUNCTION awa.enter_lanes_of_keys(p_txid xid8, p_ids bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    queues constant text[] := ARRAY(SELECT DISTINCT d.queue FROM awa.deferred_jobs d WHERE d.job_id = ANY (p_ids));
BEGIN
    PERFORM awa.enter_lanes(p_txid, p_ids);
    PERFORM awa.notify_if_idle(q) FROM unnest(queues) q;
END $$;

-- Finds keys with parked jobs and free places, and lets those jobs in: the backstop for places that somebody had just in hand when
-- they were asked for, or that were freed when nobody was there to take them.
-- moves: available (parked) -> available
-- index: as awa.admit
-- bound: p_keys_max keys looked at, 500 jobs let in
-- params: the key after which to look (null: from the first), how many keys to look at. Answers how many jobs were let in, the key
--         after which to go on, and whether there are more.
CREATE OR REPLACE FUNCTION awa.admit_waiting(p_after text, p_keys_max int, OUT admitted int, OUT last_key text, OUT more boolean)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off AS $$
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    keys text[];
BEGIN
    PERFORM awa.require_read_committed();
    WITH RECURSIVE parked(key, n) AS (
        SELECT min(d.concurrency_key), 1 FROM awa.deferred_jobs d
         WHERE d.state = 'available' AND (p_after IS NULL OR d.concurrency_key > p_after)
        UNION ALL
        SELECT (SELECT min(d.concurrency_key) FROM awa.deferred_jobs d
                 WHERE d.state = 'available' AND d.concurrency_key > p.key), p.n + 1
          FROM parked p WHERE p.key IS NOT NULL AND p.n < p_keys_max
    )
    SELECT array_agg(p.key ORDER BY p.key) FILTER (WHERE f.concurrency_limit > (
               SELECT count(*) FROM awa.concurrency_admissions a WHERE a.key = p.key)),
           CASE WHEN count(p.key) >= p_keys_max THEN max(p.key) END
      INTO keys, last_key
      FROM parked p
     CROSS JOIN LATERAL (SELECT d.concurrency_limit FROM awa.deferred_jobs d
                          WHERE d.state = 'available' AND d.concurrency_key = p.key ORDER BY d.priority, d.job_id LIMIT 1) f;
    admitted := CASE WHEN keys IS NULL THEN 0 ELSE awa.admit(own_txid, keys) END;
    more := last_key IS NOT NULL;
    IF admitted >= awa.admissions_max() THEN last_key := p_after; more := true; END IF;
END $$;
