-- What the limits of queues count.

-- How many attempts at jobs of these lanes are open.
-- moves: nothing
-- index: ready_entries_running
-- bound: what runs
CREATE OR REPLACE FUNCTION awa.count_running(p_lanes int[]) RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT count(*) FROM awa.runtimes t
      JOIN awa.ready_entries r ON r.runtime_id = t.id AND r.claim_id IS NOT NULL AND r.closed_at IS NULL
     WHERE NOT t.settled AND r.lane_id = ANY (p_lanes);
$$;

-- How many jobs of these lanes were claimed after a time, and when the first of them.
-- moves: nothing
-- index: limited_claims (lane_id, claimed_at)
-- bound: the claims since then
CREATE OR REPLACE FUNCTION awa.started_since(p_lanes int[], p_since timestamptz, OUT jobs bigint, OUT oldest timestamptz)
LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(sum(c.jobs), 0)::bigint, min(c.claimed_at)
      FROM unnest(p_lanes) u(lane_id)
      JOIN awa.limited_claims c ON c.lane_id = u.lane_id AND c.claimed_at > p_since;
$$;
