-- What a unique job's recipe says. A recipe is the column unique_key of a job and goes with it wherever it goes: a byte with
-- a bit for each state in which the key is held, a byte of flags, and a digest. The key itself is worked out anew from the
-- recipe and the queue that the job is in, so a move needs nothing but the row.

-- The bit of a state in a recipe's first byte; 0 for what is no state of a job.
CREATE OR REPLACE FUNCTION awa.state_bit(p_state text) RETURNS int
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE p_state
        WHEN 'scheduled' THEN 1 WHEN 'available' THEN 2 WHEN 'running' THEN 4 WHEN 'completed' THEN 8
        WHEN 'retryable' THEN 16 WHEN 'failed' THEN 32 WHEN 'cancelled' THEN 64 WHEN 'waiting_external' THEN 128 ELSE 0 END;
$$;

-- Is the key held in this state? False for a state that no job has, such as 'gone'; null without a recipe.
-- moves: nothing
-- index: none
-- bound: constant
CREATE OR REPLACE FUNCTION awa.holds_key_in(p_recipe bytea, p_state text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT get_byte(p_recipe, 0) & awa.state_bit(p_state) <> 0;
$$;

-- The key that a job with this recipe holds in this queue.
-- bound: constant
CREATE OR REPLACE FUNCTION awa.held_key(p_recipe bytea, p_queue text) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN get_byte(p_recipe, 1) & 1 = 1 THEN sha256(substr(p_recipe, 3) || convert_to(p_queue, 'UTF8'))
                ELSE substr(p_recipe, 3) END;
$$;

-- Works out the recipe of a job from its unique options (a JSON object, see awa.check_unique_opts).
-- moves: nothing
-- index: none
-- bound: one document, parsed
-- params: kind, args, options, the time whose period counts (a new job's run_at, else the clock)
-- What counts of the arguments is compared as jsonb prints it: the order of fields and white space make no difference,
-- 1 and 1.0 do. An own key stands for kind and arguments.
CREATE OR REPLACE FUNCTION awa.unique_recipe(p_kind text, p_args json, p_opts jsonb, p_at timestamptz) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    by_args constant jsonb := coalesce(p_opts -> 'by_args', to_jsonb(NOT p_opts ? 'key'));
    period_s constant bigint := p_opts -> 'by_period';
    states constant jsonb := coalesce(
        p_opts -> 'by_states', '["scheduled", "available", "running", "retryable", "waiting_external"]'
        || CASE WHEN period_s IS NULL THEN '[]'::jsonb ELSE '["completed"]' END);
    parts jsonb := jsonb_build_array(CASE WHEN NOT p_opts ? 'key' THEN p_kind END, p_opts -> 'key', period_s,
                                     floor(extract(epoch FROM p_at) / period_s));
    mask int;
    flags int;
BEGIN
    SELECT sum(DISTINCT awa.state_bit(s)) INTO mask FROM jsonb_array_elements_text(states) s;
    flags := CASE WHEN p_opts -> 'by_queue' = 'true' THEN 1 ELSE 0 END + CASE WHEN by_args = 'true' THEN 2 ELSE 0 END
           + CASE WHEN jsonb_typeof(by_args) = 'array' THEN 4 ELSE 0 END + CASE WHEN period_s IS NOT NULL THEN 8 ELSE 0 END
           + CASE WHEN p_opts ? 'key' THEN 16 ELSE 0 END;
    IF by_args <> 'false' THEN parts := parts || jsonb_build_array(awa.unique_args(p_args, by_args)); END IF;
    RETURN set_byte(set_byte('\x0000', 0, mask), 1, flags) || sha256(convert_to(parts::text, 'UTF8'));
END $$;

-- The arguments that count, all of them or the named fields. A field that they lack is refused: misspelt, it would make all jobs
-- of a kind the same.
-- bound: one document, parsed
CREATE OR REPLACE FUNCTION awa.unique_args(p_args json, p_by_args jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    args jsonb;
    lacking text;
BEGIN
    IF p_by_args <> 'true' AND json_typeof(p_args) <> 'object' THEN
        RAISE EXCEPTION 'unique by fields of the arguments, but these arguments are no object: %', left(p_args::text, 60)
            USING ERRCODE = '22023';
    END IF;
    BEGIN
        args := p_args::jsonb;
    EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
        RAISE EXCEPTION 'unique by arguments that can''t be compared: %', SQLERRM
            USING ERRCODE = '22023', HINT = 'Arguments with NUL characters or numbers beyond all bounds have no jsonb; give an own key.';
    END;
    IF p_by_args = 'true' THEN RETURN args; END IF;
    SELECT f INTO lacking FROM jsonb_array_elements_text(p_by_args) WITH ORDINALITY u(f, ord) WHERE NOT args ? f ORDER BY ord LIMIT 1;
    IF lacking IS NOT NULL THEN
        RAISE EXCEPTION 'unique_opts: by_args names the field %, which these arguments lack', quote_literal(lacking)
            USING ERRCODE = '22023', HINT = awa.advise_name(lacking, ARRAY(SELECT jsonb_object_keys(args)));
    END IF;
    RETURN (SELECT jsonb_object_agg(f, args -> f) FROM jsonb_array_elements_text(p_by_args) f);
END $$;

-- A hint for a name that is not among those known: the nearest one by pairs of letters, if one is near, else some of them.
-- bound: the names, 20 of them told
CREATE OR REPLACE FUNCTION awa.advise_name(p_name text, p_known text[]) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    WITH pairs AS (
        SELECT w.word, w.word IS NULL AS is_ours, lower(substr(' ' || coalesce(w.word, p_name) || ' ', i, 2)) AS pair
          FROM (SELECT NULL::text AS word UNION ALL SELECT unnest(p_known)) w
         CROSS JOIN LATERAL generate_series(1, least(length(coalesce(w.word, p_name)), 100) + 1) i
    ), nearness AS (
        SELECT k.word, 2.0 * count(DISTINCT k.pair) FILTER (WHERE k.pair IN (SELECT o.pair FROM pairs o WHERE o.is_ours))
               / (count(DISTINCT k.pair) + (SELECT count(DISTINCT o.pair) FROM pairs o WHERE o.is_ours)) AS near
          FROM pairs k WHERE NOT k.is_ours GROUP BY k.word
    )
    SELECT coalesce((SELECT format('Did you mean %L?', n.word) FROM nearness n WHERE n.near >= 0.5 ORDER BY n.near DESC, n.word LIMIT 1),
                    CASE WHEN p_known = '{}' THEN 'They have no fields.'
                         ELSE 'They have ' || array_to_string(p_known[:20], ', ') || '.' END);
$$;

-- Says what is wrong with unique options before anything is written: an object with by_args (true, false, or names of
-- fields), by_queue, by_period (seconds), by_states (in which the key is held), key (an own text instead of kind and
-- arguments) and on_conflict (reject, replace or ignore), all of them optional.
CREATE OR REPLACE FUNCTION awa.check_unique_opts(p_opts jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    fields constant text[] := '{by_args,by_queue,by_period,by_states,key,on_conflict}';
    wrong text;
BEGIN
    IF jsonb_typeof(p_opts) <> 'object' THEN
        RAISE EXCEPTION 'unique_opts is a JSON object, not %', jsonb_typeof(p_opts) USING ERRCODE = '22023';
    END IF;
    SELECT k INTO wrong FROM jsonb_object_keys(p_opts) k WHERE k <> ALL (fields) LIMIT 1;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'unknown field % in unique_opts', quote_literal(wrong)
            USING ERRCODE = '22023', HINT = 'Known are ' || array_to_string(fields, ', ') || '.';
    END IF;
    wrong := CASE
        WHEN NOT (jsonb_typeof(p_opts -> 'by_args') = 'boolean' OR awa.is_list_of_texts(p_opts -> 'by_args'))
            THEN 'by_args is true, false or a list of names of fields'
        WHEN jsonb_typeof(p_opts -> 'by_queue') <> 'boolean' THEN 'by_queue is true or false'
        WHEN NOT coalesce(p_opts ->> 'by_period' ~ '^[1-9][0-9]{0,8}$' AND jsonb_typeof(p_opts -> 'by_period') = 'number', NOT p_opts ? 'by_period')
            THEN 'by_period is a whole number of seconds, 1 or more'
        WHEN NOT awa.is_list_of_texts(p_opts -> 'by_states')
          OR EXISTS (SELECT FROM jsonb_array_elements_text(p_opts -> 'by_states') s WHERE awa.state_bit(s) = 0)
            THEN 'by_states is a list of states of jobs'
        WHEN jsonb_typeof(p_opts -> 'key') <> 'string' OR length(p_opts ->> 'key') NOT BETWEEN 1 AND 500 THEN 'key has 1 to 500 characters'
        WHEN p_opts ? 'key' AND p_opts -> 'by_args' <> 'false' THEN 'an own key stands for kind and arguments, so leave out by_args'
        WHEN p_opts ->> 'on_conflict' NOT IN ('reject', 'replace', 'ignore') THEN 'on_conflict is reject, replace or ignore' END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'unique_opts: %', wrong USING ERRCODE = '22023';
    END IF;
END $$;

-- Is this a JSON array of texts, and not an empty one? Null if it isn't there.
CREATE OR REPLACE FUNCTION awa.is_list_of_texts(p_list jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT p_list IS NULL OR (jsonb_typeof(p_list) = 'array' AND p_list <> '[]'
           AND NOT jsonb_path_exists(p_list, 'strict $[*] ? (@.type() != "string")'));
$$;
