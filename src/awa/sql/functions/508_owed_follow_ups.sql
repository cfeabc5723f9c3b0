-- Of attempts that are about to be taken back, those whose job would fail for good and whose runtime's program wants something to follow then.
-- moves: nothing
-- index: runtimes primary key, ready_entries (lane_id, lane_seq)
-- bound: the set
-- params: arrays of one length: runtime, lane, lane_seq
CREATE OR REPLACE FUNCTION awa.last_attempts_of(p_runtimes uuid[], p_lanes int[], p_seqs bigint[])
RETURNS TABLE (lane_seq bigint, job_id bigint)
LANGUAGE sql VOLATILE AS $$
    SELECT u.lane_seq, e.job_id
      FROM unnest(p_runtimes, p_lanes, p_seqs) u(runtime, lane_id, lane_seq)
      JOIN awa.runtimes r ON r.id = u.runtime AND r.on_failed <> '{}'
     CROSS JOIN LATERAL (SELECT k.job_id, k.kind, k.attempt, k.max_attempts FROM awa.ready_entries k
                          WHERE k.lane_id = u.lane_id AND k.lane_seq = u.lane_seq OFFSET 0) e
     WHERE e.attempt + 1 >= e.max_attempts AND e.kind = ANY (r.on_failed);
$$;

-- Notes that something is to follow jobs that have failed; answers how many.
-- moves: nothing
-- index: finished_jobs primary key; appends to owed_follow_ups
-- bound: the set
CREATE OR REPLACE FUNCTION awa.owe_follow_ups(p_jobs bigint[]) RETURNS int
LANGUAGE sql VOLATILE AS $$
    WITH owed AS (
        INSERT INTO awa.owed_follow_ups (job_id, kind, queue, priority, attempt, max_attempts, args, tags, metadata, errors, progress,
                                         run_at, created_at, attempted_at, finalized_at)
        SELECT f.id, f.kind, f.queue, f.priority, f.attempt, f.max_attempts, f.args, f.tags, f.metadata, f.errors, f.progress,
               f.run_at, f.created_at, f.attempted_at, f.finalized_at
          FROM awa.finished_places f WHERE f.id = ANY (p_jobs) AND f.state = 'failed' ORDER BY f.id
        RETURNING 1
    ) SELECT count(*)::int FROM owed;
$$;
