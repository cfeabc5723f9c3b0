-- How unique keys follow their jobs. A key changes hands in the transaction that changes the job, and whoever changes a job
-- has it to itself (the claim row, the ready row or the deferred row is locked), so nobody else speaks for its key.

-- Lets the keys of jobs go along as the jobs change their state by themselves: released where the new state doesn't hold
-- them; taken again, if they are free, where it does and the old one didn't. A job whose key is somebody else's by then
-- goes on without it.
-- moves: nothing
-- index: unique_keys primary key
-- bound: the set
-- params: arrays of one length: job, recipe, queue, the state it leaves and the one it enters ('gone': the job ends here)
CREATE OR REPLACE FUNCTION awa.follow_keys(
    p_ids bigint[], p_recipes bytea[], p_queues text[], p_from text[], p_to text[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    wanted record;
BEGIN
    DELETE FROM awa.unique_keys k
     USING unnest(p_ids, p_recipes, p_queues, p_from, p_to) u(id, recipe, queue, left_, entered)
     WHERE awa.holds_key_in(u.recipe, u.left_) AND NOT awa.holds_key_in(u.recipe, u.entered)
       AND k.key = awa.held_key(u.recipe, u.queue) AND k.job_id = u.id;
    SELECT array_agg(w.key ORDER BY w.key, w.id) AS keys, array_agg(w.id ORDER BY w.key, w.id) AS ids INTO wanted
      FROM (SELECT awa.held_key(u.recipe, u.queue) AS key, u.id
              FROM unnest(p_ids, p_recipes, p_queues, p_from, p_to) u(id, recipe, queue, left_, entered)
             WHERE NOT awa.holds_key_in(u.recipe, u.left_) AND awa.holds_key_in(u.recipe, u.entered)) w;
    IF wanted.keys IS NOT NULL THEN PERFORM awa.take_free_keys(wanted.keys, wanted.ids); END IF;
END $$;

-- Takes those of these keys that are free, and waits for no transaction that may be about to take or to give one back: what
-- changes jobs here may hold a thousand others locked, and that transaction may be a program's that stays open for hours.
-- moves: nothing
-- index: unique_keys primary key
-- bound: the set; 10 ms for each key that an open transaction has its hands on, times the times the set is halved
-- params: keys in ascending order, and the jobs that want them
CREATE OR REPLACE FUNCTION awa.take_free_keys(p_keys bytea[], p_ids bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET lock_timeout = '10ms' AS $$
DECLARE
    half constant int := cardinality(p_keys) / 2;
BEGIN
    BEGIN
        INSERT INTO awa.unique_keys (key, job_id)
        SELECT u.key, u.id FROM unnest(p_keys, p_ids) WITH ORDINALITY u(key, id, ord) ORDER BY u.ord
        ON CONFLICT DO NOTHING;
        RETURN;
    EXCEPTION WHEN lock_not_available THEN
        IF half = 0 THEN RETURN; END IF;
    END;
    PERFORM awa.take_free_keys(p_keys[:half], p_ids[:half]);
    PERFORM awa.take_free_keys(p_keys[half + 1:], p_ids[half + 1:]);
END $$;

-- Lets keys follow the jobs of a claim that has just been made: a key may be held by waiting jobs alone, or by running ones.
-- index: ready_entries (lane_id, lane_seq), unique_keys primary key
-- bound: the keyed positions of one claim
CREATE OR REPLACE FUNCTION awa.follow_claimed(p_lane int, p_keyed int8multirange) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    a record;
BEGIN
    SELECT array_agg(r.job_id) AS ids, array_agg(r.unique_key) AS recipes, array_agg(l.queue) AS queues,
           array_agg('available'::text) AS left_, array_agg('running'::text) AS entered INTO a
      FROM awa.lanes l
     CROSS JOIN unnest(p_keyed) g
     CROSS JOIN LATERAL (SELECT e.job_id, e.unique_key FROM awa.ready_entries e
                          WHERE e.lane_id = p_lane AND e.lane_seq >= lower(g) AND e.lane_seq < upper(g)
                          ORDER BY e.lane_seq OFFSET 0) r
     WHERE l.lane_id = p_lane AND awa.holds_key_in(r.unique_key, 'available') <> awa.holds_key_in(r.unique_key, 'running');
    IF a.ids IS NOT NULL THEN PERFORM awa.follow_keys(a.ids, a.recipes, a.queues, a.left_, a.entered); END IF;
END $$;

-- Takes the keys that jobs need to enter a state by somebody's order; answers those that can't have theirs, with the holder
-- (null: an open transaction has the key in its hands, so nobody knows yet). Without its key such a job is to stay where it is.
-- moves: nothing
-- index: unique_keys primary key
-- bound: the set; waits as awa.take_free_keys does
-- params: jobs, locked by the caller, their recipes, and the queues and states they are to enter. Of two that want the same key the
--         first in order of ids has it.
CREATE OR REPLACE FUNCTION awa.take_keys(p_ids bigint[], p_recipes bytea[], p_queues text[], p_states text[])
RETURNS TABLE (job_id bigint, holder bigint)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    wanted record;
BEGIN
    SELECT array_agg(w.key ORDER BY w.key, w.id) AS keys, array_agg(w.id ORDER BY w.key, w.id) AS ids INTO wanted
      FROM (SELECT awa.held_key(u.recipe, u.queue) AS key, u.id
              FROM unnest(p_ids, p_recipes, p_queues, p_states) u(id, recipe, queue, state)
             WHERE awa.holds_key_in(u.recipe, u.state)) w;
    IF wanted.keys IS NULL THEN RETURN; END IF;
    -- Not within the few milliseconds that a key is waited for: a vacuum that shortens the table holds it, and no key of it.
    LOCK TABLE awa.unique_keys IN ROW EXCLUSIVE MODE;
    PERFORM awa.take_free_keys(wanted.keys, wanted.ids);
    PERFORM awa.pause_point('unique.after_take');
    -- A new statement: who has them, after whatever the insert met.
    RETURN QUERY
    SELECT u.id, k.job_id FROM unnest(wanted.keys, wanted.ids) u(key, id) LEFT JOIN awa.unique_keys k ON k.key = u.key
     WHERE k.job_id IS DISTINCT FROM u.id;
END $$;

-- Gives the keys back that jobs held in the queue they have left.
-- index: unique_keys primary key
-- bound: the set
CREATE OR REPLACE FUNCTION awa.release_keys(p_ids bigint[], p_recipes bytea[], p_queues text[]) RETURNS void
LANGUAGE sql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
    DELETE FROM awa.unique_keys k USING unnest(p_ids, p_recipes, p_queues) u(id, recipe, queue)
     WHERE k.key = awa.held_key(u.recipe, u.queue) AND k.job_id = u.id;
$$;
