-- How many positions a multirange holds.
CREATE OR REPLACE FUNCTION awa.positions_in(p_ranges int8multirange) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(sum(upper(g) - lower(g)), 0)::bigint FROM unnest(p_ranges) g;
$$;
