-- The open attempts of these jobs.
-- index: ready_entries (job_id), lane_claims gist (seqs), attempt_closures (lane_id, claim_no)
-- bound: the set
CREATE OR REPLACE FUNCTION awa.running_attempts(p_ids bigint[])
RETURNS TABLE (job_id bigint, lane_id int, claim_no bigint, lane_seq bigint, runtime_id uuid)
LANGUAGE sql VOLATILE AS $$
    SELECT r.job_id, c.lane_id, c.claim_no, r.lane_seq, c.runtime_id
      FROM unnest(p_ids) u(id)
     CROSS JOIN LATERAL (SELECT e.* FROM awa.ready_entries e WHERE e.job_id = u.id ORDER BY e.lane_seq DESC LIMIT 1) r
      JOIN awa.lane_claims c ON c.slot = r.slot AND c.jobs > 0 AND c.seqs @> r.lane_seq AND c.lane_id = r.lane_id
     WHERE NOT EXISTS (SELECT FROM awa.attempt_closures x
                        WHERE x.slot = c.slot AND x.lane_id = c.lane_id AND x.claim_no = c.claim_no AND x.seqs @> r.lane_seq);
$$;
