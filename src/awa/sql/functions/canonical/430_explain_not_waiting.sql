-- Why these jobs could not be locked as waiting, in one snapshot.
-- moves: nothing
-- index: primary keys, ready_entries (job_id)
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
                WHEN r.claim_id IS NULL THEN 'locked'
                WHEN r.closed_at IS NULL THEN 'claimed'
                ELSE 'finished' END
      FROM unnest(p_ids) u(id)
      LEFT JOIN awa.deferred_jobs d ON d.job_id = u.id
      LEFT JOIN awa.finished_jobs f ON f.job_id = u.id
      LEFT JOIN awa.ready_entries r ON r.job_id = u.id;
$$;
