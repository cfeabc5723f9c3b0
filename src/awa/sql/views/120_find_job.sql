-- One job, wherever it is.
-- moves: nothing
-- index: ready_entries (job_id), primary keys
-- bound: one row
-- params: its id
-- A function keeps its plan for the session; planning the view anew costs ten times what reading one job does, and
-- behind a pooler no statement is ever prepared.
CREATE OR REPLACE FUNCTION awa.find_job(p_id bigint) RETURNS SETOF awa.jobs
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET jit = off AS $$
BEGIN
    RETURN QUERY SELECT * FROM awa.jobs j WHERE j.id = p_id;
END $$;
