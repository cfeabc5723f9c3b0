-- Why these jobs could not be locked as waiting, in one snapshot.
-- moves: nothing
-- index: primary keys, ready_entries (job_id), lane_claims gist (seqs)
-- bound: the set
-- params: job ids; answers claimed (runs now) | finished | cancelled | locked (in another transaction's hands or on its
--         way: try again) | not_found
CREATE OR REPLACE FUNCTION awa.explain_not_waiting(p_ids bigint[]) RETURNS TABLE (job_id bigint, reason text)
LANGUAGE sql VOLATILE SET enable_seqscan = off SET jit = off AS $$
    SELECT u.id,
           CASE WHEN d.job_id IS NOT NULL THEN 'locked'
                WHEN f.state = 'cancelled' THEN 'cancelled'
                WHEN f.state IS NOT NULL THEN 'finished'
                WHEN r.job_id IS NULL THEN 'not_found'
                WHEN c.claim_no IS NULL THEN 'locked'
                WHEN x.outcome IS NULL THEN 'claimed'
                WHEN x.outcome = 'completed' THEN 'finished'
                ELSE 'locked' END
      FROM unnest(p_ids) u(id)
      LEFT JOIN awa.deferred_jobs d ON d.job_id = u.id
      LEFT JOIN awa.finished_jobs f ON f.job_id = u.id
      LEFT JOIN LATERAL (SELECT e.* FROM awa.ready_entries e WHERE e.job_id = u.id ORDER BY e.lane_seq DESC LIMIT 1) r ON true
      LEFT JOIN LATERAL (SELECT k.* FROM awa.lane_claims k
                          WHERE k.slot = r.slot AND k.jobs > 0 AND k.seqs @> r.lane_seq AND k.lane_id = r.lane_id LIMIT 1) c ON true
      LEFT JOIN LATERAL (SELECT k.outcome FROM awa.attempt_closures k
                          WHERE k.slot = c.slot AND k.lane_id = c.lane_id AND k.claim_no = c.claim_no
                            AND k.seqs @> r.lane_seq LIMIT 1) x ON true;
$$;
