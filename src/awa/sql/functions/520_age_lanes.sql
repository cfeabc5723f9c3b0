-- Raises lanes whose oldest waiting job has waited long, and lowers them again; answers how many changed.
-- moves: nothing; a lane's effective priority is one step better per interval waited
-- index: lane_claims (lane_id, claim_no), ready_entries (lane_id, lane_seq)
-- bound: one look a lane
-- params: seconds a step takes (null or 0: no ageing), the time (null: now)
-- A job's age counts from when it entered its present lane (ready_at), so a demoted job is not raised straight back.
CREATE OR REPLACE FUNCTION awa.age_lanes(p_step_s float8, p_now timestamptz DEFAULT NULL) RETURNS int
LANGUAGE plpgsql VOLATILE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    changed int;
BEGIN
    WITH aged AS MATERIALIZED (
        SELECT h.lane_id,
               CASE WHEN coalesce(p_step_s, 0) <= 0 OR o.ready_at IS NULL THEN h.priority
                    ELSE greatest(1, h.priority - greatest(0, floor(
                         extract(epoch FROM coalesce(p_now, clock_timestamp()) - o.ready_at) / p_step_s)))
               END::smallint AS effective
          FROM awa.lane_heads h
          LEFT JOIN LATERAL awa.oldest_waiting(h.lane_id, h.cursor, h.owed) o(ready_at) ON true
    )
    UPDATE awa.lanes l SET effective_priority = a.effective
      FROM aged a WHERE a.lane_id = l.lane_id AND l.effective_priority <> a.effective;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END $$;
