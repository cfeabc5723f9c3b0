-- How much is kept, and of what.

-- What the one slot takes on disk, in bytes.
-- index: none
-- bound: constant
CREATE OR REPLACE FUNCTION awa.slot_bytes() RETURNS bigint[]
LANGUAGE sql VOLATILE AS $$ SELECT ARRAY[pg_total_relation_size('awa.ready_entries')]; $$;

-- How many completed jobs each queue still keeps.
-- index: none; the rows are counted
-- bound: the history kept
CREATE OR REPLACE FUNCTION awa.completed_kept() RETURNS TABLE (queue text, jobs bigint)
LANGUAGE sql VOLATILE AS $$
    SELECT k.queue, sum(k.jobs)::bigint
      FROM (SELECT l.queue, count(*) AS jobs FROM awa.ready_entries r JOIN awa.lanes l ON l.lane_id = r.lane_id
             WHERE r.closed_at IS NOT NULL GROUP BY 1
            UNION ALL
            SELECT f.queue, count(*) FROM awa.finished_jobs f WHERE f.state = 'completed' GROUP BY 1) k
     GROUP BY 1;
$$;
