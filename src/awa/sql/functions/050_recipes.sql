-- What a unique job's recipe says. A recipe is the column unique_key of a job and goes with it wherever it goes: a byte with
-- a bit for each state in which the key is held, a byte of flags, and a digest. The key itself is worked out anew from the
-- recipe and the queue that the job is in, so a move needs nothing but the row.

-- Is the key held in this state? False for a state that no job has, such as 'gone'; null without a recipe.
-- moves: nothing
-- index: none
-- bound: constant
CREATE OR REPLACE FUNCTION awa.holds_key_in(p_recipe bytea, p_state text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT get_byte(p_recipe, 0) & CASE p_state
        WHEN 'scheduled' THEN 1 WHEN 'available' THEN 2 WHEN 'running' THEN 4 WHEN 'completed' THEN 8
        WHEN 'retryable' THEN 16 WHEN 'failed' THEN 32 WHEN 'cancelled' THEN 64 WHEN 'waiting_external' THEN 128 ELSE 0 END <> 0;
$$;

-- The key that a job with this recipe holds in this queue.
-- bound: constant
CREATE OR REPLACE FUNCTION awa.held_key(p_recipe bytea, p_queue text) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN get_byte(p_recipe, 1) & 1 = 1 THEN sha256(substr(p_recipe, 3) || convert_to(p_queue, 'UTF8'))
                ELSE substr(p_recipe, 3) END;
$$;
