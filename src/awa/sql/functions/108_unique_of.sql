-- What is unique about a job, and who holds the key that goes with it; no row for a job that isn't unique.
-- moves: nothing
-- index: deferred_jobs, finished_jobs and unique_keys primary keys, ready_entries (job_id)
-- bound: one job
-- params: the job's id and the queue it is in. Answers the states in which the key is held; whether the queue, all arguments, some of
--         them, a period, an own key are part of it; whether the job is to hold it now; and the holder (null: nobody).
-- A recipe stays with its job for life, so any row of the job tells it.
CREATE OR REPLACE FUNCTION awa.unique_of(p_id bigint, p_queue text, p_state text)
RETURNS TABLE (states text[], by_queue boolean, by_args boolean, by_some_args boolean, by_period boolean, by_key boolean,
               wanted boolean, holder bigint)
LANGUAGE sql VOLATILE SET enable_seqscan = off SET jit = off AS $$
    SELECT ARRAY(SELECT s FROM unnest('{scheduled,available,running,completed,retryable,failed,cancelled,waiting_external}'::text[]) s
                  WHERE awa.holds_key_in(k.recipe, s)),
           f & 1 <> 0, f & 2 <> 0, f & 4 <> 0, f & 8 <> 0, f & 16 <> 0, awa.holds_key_in(k.recipe, p_state),
           (SELECT u.job_id FROM awa.unique_keys u WHERE u.key = awa.held_key(k.recipe, p_queue))
      FROM (SELECT coalesce((SELECT d.unique_key FROM awa.deferred_jobs d WHERE d.job_id = p_id),
                            (SELECT f.unique_key FROM awa.finished_jobs f WHERE f.job_id = p_id),
                            (SELECT r.unique_key FROM awa.ready_entries r WHERE r.job_id = p_id LIMIT 1)) AS recipe) k
     CROSS JOIN LATERAL get_byte(k.recipe, 1) f
     WHERE k.recipe IS NOT NULL;
$$;
