-- Adds one chunk to an operation's record of how long its chunks took.
-- moves: nothing
-- index: none
-- bound: 60 points of five numbers; when they are full, each two become one and a point stands for twice as many chunks
-- params: p_record (null: none yet), p_at_cs (hundredths of a second since the operation began), p_items, p_took_ms
-- The record is flat: chunks a point, and then for each point its last chunk's time, chunks, items, and the sum and the
-- greatest of their milliseconds. It stays below the size from which PostgreSQL would store it elsewhere.
CREATE OR REPLACE FUNCTION awa.note_chunk(p_record int[], p_at_cs bigint, p_items bigint, p_took_ms bigint) RETURNS int[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    at_cs constant int := least(p_at_cs, 2147483647);
    items constant int := least(p_items, 2147483647);
    took_ms constant int := least(p_took_ms, 2147483647);
    kept int[] := coalesce(p_record, ARRAY[1]);
    last int := cardinality(kept) - 4;  -- where the newest point begins
BEGIN
    IF last > 0 AND kept[last + 1] < kept[1] THEN
        kept[last] := at_cs;
        kept[last + 1] := kept[last + 1] + 1;
        kept[last + 2] := least(kept[last + 2]::bigint + items, 2147483647);
        kept[last + 3] := least(kept[last + 3]::bigint + took_ms, 2147483647);
        kept[last + 4] := greatest(kept[last + 4], took_ms);
        RETURN kept;
    END IF;
    IF cardinality(kept) > 60 * 5 THEN
        SELECT array_agg(n ORDER BY pair, part) INTO kept
          FROM (SELECT (i - 2) / 10 AS pair, (i - 2) % 5 AS part,
                       CASE (i - 2) % 5 WHEN 0 THEN max(kept[i]) WHEN 4 THEN max(kept[i])
                                        ELSE least(sum(kept[i]), 2147483647) END::int AS n
                  FROM generate_series(2, cardinality(kept)) i
                 GROUP BY 1, 2) merged;
        kept := p_record[1] * 2 || kept;
    END IF;
    RETURN kept || ARRAY[at_cs, 1, items, took_ms, took_ms];
END $$;
