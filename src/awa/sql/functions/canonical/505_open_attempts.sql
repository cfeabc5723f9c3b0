-- A runtime's open attempts.
-- index: ready_entries_running
-- bound: what it holds; p_since is what the lanes storage looks back by, and needs no heed here
CREATE OR REPLACE FUNCTION awa.open_attempts(p_runtime uuid, p_since timestamptz)
RETURNS TABLE (lane_id int, claim_no bigint, lane_seq bigint, claimed_at timestamptz, deadline_at timestamptz)
LANGUAGE sql VOLATILE AS $$
    SELECT r.lane_id, r.claim_id, r.lane_seq, r.attempted_at, r.deadline_at
      FROM awa.ready_entries r
     WHERE r.runtime_id = p_runtime AND r.claim_id IS NOT NULL AND r.closed_at IS NULL;
$$;

-- Whether the deadline of any attempt has passed that may still be open; whoever is told so looks closer.
-- index: ready_entries_running
-- bound: what each runtime holds
CREATE OR REPLACE FUNCTION awa.deadline_passed(p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM awa.runtimes t JOIN awa.ready_entries r ON r.runtime_id = t.id
                    WHERE NOT t.settled AND r.claim_id IS NOT NULL AND r.closed_at IS NULL AND r.deadline_at <= p_now);
END $$;
