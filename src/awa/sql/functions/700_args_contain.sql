-- Do these arguments contain that JSON, as jsonb containment has it? The filter field args_contains.
-- moves: nothing
-- index: none, it parses the document
-- bound: one document
-- `json` stores what jsonb can't hold (NUL characters, numbers beyond all bounds). Such arguments contain nothing,
-- instead of ending the query of whoever looks through a million others.
CREATE OR REPLACE FUNCTION awa.args_contain(p_args json, p_wanted jsonb) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    RETURN p_args::jsonb @> p_wanted;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN false;
END $$;
