-- How much is kept, and of what.

-- What each slot takes on disk, in bytes, slot 0 first.
-- index: none; asks for the sizes of four tables a slot
-- bound: the slots
CREATE OR REPLACE FUNCTION awa.slot_bytes() RETURNS bigint[]
LANGUAGE sql VOLATILE AS $$
    SELECT ARRAY(SELECT (SELECT sum(pg_total_relation_size(('awa.' || t || '_' || s)::regclass))::bigint
                           FROM unnest(ARRAY['ready_entries', 'ready_tombstones', 'lane_claims', 'attempt_closures']) t)
                   FROM generate_series(0, (SELECT g.slots FROM awa.ring g) - 1) s ORDER BY s);
$$;

-- How many completed jobs each queue still keeps.
-- index: none; the closures and the finished jobs are read whole
-- bound: the history kept, of closures a row a batch of completions
CREATE OR REPLACE FUNCTION awa.completed_kept() RETURNS TABLE (queue text, jobs bigint)
LANGUAGE sql VOLATILE AS $$
    SELECT d.queue, sum(d.jobs)::bigint
      FROM (SELECT l.queue, k.jobs
              FROM (SELECT x.lane_id, sum(x.jobs) AS jobs FROM awa.attempt_closures x WHERE x.outcome = 'completed' GROUP BY 1) k
              JOIN awa.lanes l ON l.lane_id = k.lane_id
            UNION ALL
            -- Those with a row of their own, whoever completed them: it may outlive the closure, if there was one.
            SELECT f.queue, count(*) FROM awa.finished_jobs f WHERE f.state = 'completed' GROUP BY 1) d
     GROUP BY 1;
$$;
