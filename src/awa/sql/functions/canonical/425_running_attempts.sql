-- The open attempts of these jobs.
-- index: ready_entries (job_id)
-- bound: the set
CREATE OR REPLACE FUNCTION awa.running_attempts(p_ids bigint[])
RETURNS TABLE (job_id bigint, lane_id int, claim_no bigint, lane_seq bigint, runtime_id uuid)
LANGUAGE sql VOLATILE AS $$
    SELECT r.job_id, r.lane_id, r.claim_id, r.lane_seq, r.runtime_id
      FROM awa.ready_entries r
     WHERE r.job_id = ANY (p_ids) AND r.claim_id IS NOT NULL AND r.closed_at IS NULL;
$$;
