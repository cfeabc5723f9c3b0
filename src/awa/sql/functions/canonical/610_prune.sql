-- Deletes completed jobs that have been kept long enough, and notes of where jobs were as long ago; answers what came of it.
-- moves: completed jobs end here
-- index: ready_entries_completed; past_places (left_at); activity_totals primary key
-- bound: 5,000 rows of each, of the completed ones the oldest first
-- params: slot (there is one), seconds that completed jobs are kept, how many live rows may be carried (none is), the time
--         (null: now). Answers more (ask again in another transaction) | pruned | empty
CREATE OR REPLACE FUNCTION awa.prune_slot(
    p_slot int, p_keep_s float8, p_carry_limit int, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE
    rows_limit constant int := 5000;
    gone int;
    notes int;
BEGIN
    PERFORM awa.require_read_committed();
    -- No limit's period is longer than a day.
    DELETE FROM awa.limited_claims c WHERE c.ctid = ANY (ARRAY(
        SELECT k.ctid FROM awa.limited_claims k
         WHERE k.claimed_at < coalesce(p_now, clock_timestamp()) - interval '1 day' LIMIT rows_limit));
    DELETE FROM awa.past_places p WHERE p.ctid = ANY (ARRAY(
        SELECT k.ctid FROM awa.past_places k
         WHERE k.left_at <= coalesce(p_now, clock_timestamp()) - make_interval(secs => p_keep_s) LIMIT rows_limit));
    GET DIAGNOSTICS notes = ROW_COUNT;
    WITH gone_rows AS (
        DELETE FROM awa.ready_entries r
         USING (SELECT k.lane_id, k.lane_seq FROM awa.ready_entries k
                 WHERE k.closed_at IS NOT NULL AND k.closed_at <= coalesce(p_now, clock_timestamp()) - make_interval(secs => p_keep_s)
                 ORDER BY k.closed_at LIMIT rows_limit FOR UPDATE SKIP LOCKED) k
         WHERE r.lane_id = k.lane_id AND r.lane_seq = k.lane_seq
        RETURNING r.lane_id, r.kind
    ), sums AS MATERIALIZED (
        SELECT 'queue' AS scope, l.queue AS name, count(*) AS jobs FROM gone_rows g JOIN awa.lanes l ON l.lane_id = g.lane_id GROUP BY 2
        UNION ALL
        SELECT 'kind', g.kind, count(*) FROM gone_rows g GROUP BY 2
    ), noted AS (
        -- What is gone is no longer kept as completed.
        UPDATE awa.activity_totals t SET jobs = greatest(0, t.jobs - s.jobs)
          FROM sums s WHERE t.slot = 0 AND t.scope = s.scope AND t.name = s.name AND t.outcome = 'completed'
    )
    SELECT coalesce(sum(s.jobs) FILTER (WHERE s.scope = 'queue'), 0) INTO gone FROM sums s;
    RETURN CASE WHEN rows_limit IN (gone, notes) THEN 'more' WHEN gone > 0 OR notes > 0 THEN 'pruned' ELSE 'empty' END;
END $$;
