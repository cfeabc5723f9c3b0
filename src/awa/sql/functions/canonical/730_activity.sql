-- What the notes of activity are made of. Jobs that left the table since are found where they are; one that was tried
-- twice within an interval counts once.

-- The jobs that were claimed in an interval: how many by queue, and a sample of them with how long they had waited.
-- moves: nothing
-- index: ready_entries_running, ready_entries_completed; finished_jobs (finalized_at)
-- bound: what runs, and what ended since; p_claims_max jobs of it are looked at
CREATE OR REPLACE FUNCTION awa.activity_started(p_since timestamptz, p_until timestamptz, p_claims_max int, p_jobs_max int)
RETURNS TABLE (queue text, jobs bigint, kind text, weight float8, ms float8)
LANGUAGE sql VOLATILE AS $$
    WITH started AS MATERIALIZED (
        SELECT l.queue, r.kind, extract(epoch FROM r.attempted_at - r.ready_at)::float8 * 1000 AS ms
          FROM (SELECT * FROM awa.ready_entries e WHERE e.claim_id IS NOT NULL AND e.closed_at IS NULL
                UNION ALL
                SELECT * FROM awa.ready_entries e WHERE e.closed_at > p_since) r
          JOIN awa.lanes l ON l.lane_id = r.lane_id
         WHERE r.attempted_at > p_since AND r.attempted_at <= p_until
        UNION ALL
        SELECT f.queue, f.kind, NULL FROM awa.finished_jobs f
         WHERE f.finalized_at > p_since AND f.attempted_at > p_since AND f.attempted_at <= p_until
    )
    SELECT s.queue, count(*), NULL::text, NULL::float8, NULL::float8 FROM started s GROUP BY s.queue
    UNION ALL
    (SELECT s.queue, NULL, s.kind, 1, s.ms FROM started s WHERE s.ms IS NOT NULL ORDER BY random() LIMIT p_claims_max);
$$;

-- The attempts that ended in an interval: how many by queue and outcome, and a sample of the jobs with their run times.
-- moves: nothing
-- index: ready_entries_completed; finished_jobs (finalized_at); callbacks (job_id)
-- bound: what ended in the interval, and the jobs that wait for their next attempt; p_closures_max jobs of it are looked at
-- params: slot and p_from have no meaning here
-- Ends by an answer to a callback are no ends of attempts; maintenance/activity_answered tells them, here as on lanes.
CREATE OR REPLACE FUNCTION awa.activity_ended(
    p_slot int, p_from tid, p_since timestamptz, p_until timestamptz, p_closures_max int, p_jobs_max int)
RETURNS TABLE (queue text, outcome text, jobs bigint, kind text, weight float8, ms float8)
LANGUAGE sql VOLATILE AS $$
    WITH ended AS MATERIALIZED (
        SELECT l.queue, 'completed' AS outcome, r.kind, extract(epoch FROM r.closed_at - r.attempted_at)::float8 * 1000 AS ms
          FROM awa.ready_entries r JOIN awa.lanes l ON l.lane_id = r.lane_id
         WHERE r.closed_at > coalesce(p_since, '-infinity') AND r.closed_at <= p_until
        UNION ALL
        SELECT f.queue, CASE f.state WHEN 'completed' THEN 'recorded' ELSE f.state END, f.kind,
               extract(epoch FROM f.finalized_at - f.attempted_at)::float8 * 1000
          FROM awa.finished_jobs f
         WHERE f.attempted_at IS NOT NULL AND f.finalized_at > coalesce(p_since, '-infinity') AND f.finalized_at <= p_until
           AND NOT EXISTS (SELECT FROM awa.callbacks c WHERE c.job_id = f.job_id AND c.applied_at = f.finalized_at OFFSET 0)
        UNION ALL
        SELECT d.queue, 'retried', d.kind, NULL FROM awa.deferred_jobs d
         WHERE d.state = 'retryable' AND d.deferred_at > coalesce(p_since, '-infinity') AND d.deferred_at <= p_until
           AND NOT EXISTS (SELECT FROM awa.callbacks c WHERE c.job_id = d.job_id AND c.applied_at = d.deferred_at OFFSET 0)
    )
    SELECT e.queue, e.outcome, count(*), NULL::text, NULL::float8, NULL::float8 FROM ended e GROUP BY 1, 2
    UNION ALL
    (SELECT e.queue, e.outcome, NULL, e.kind, 1, e.ms FROM ended e WHERE e.ms IS NOT NULL ORDER BY random() LIMIT p_closures_max);
$$;

-- One slot, of which there is always something to read.
-- index: none
-- bound: constant
CREATE OR REPLACE FUNCTION awa.closure_lengths() RETURNS bigint[]
LANGUAGE sql IMMUTABLE AS $$ SELECT ARRAY[1::bigint]; $$;
