-- What the notes of activity are made of.

-- The jobs that were claimed in an interval: how many by queue, and a sample of them with how long they had waited.
-- moves: nothing
-- index: lane_claims (runtime_id, claimed_at); for the sample ready_entries (lane_id, lane_seq)
-- bound: the claims of the interval; p_claims_max of them and p_jobs_max jobs each are looked at
CREATE OR REPLACE FUNCTION awa.activity_started(p_since timestamptz, p_until timestamptz, p_claims_max int, p_jobs_max int)
RETURNS TABLE (queue text, jobs bigint, kind text, weight float8, ms float8)
LANGUAGE sql VOLATILE AS $$
    WITH claims AS MATERIALIZED (
        SELECT c.lane_id, c.claim_no, c.slot, c.claimed_at, c.jobs, c.seqs
          FROM awa.runtimes t
         CROSS JOIN LATERAL (SELECT k.* FROM awa.lane_claims k
                              WHERE k.runtime_id = t.id AND k.claimed_at > p_since AND k.claimed_at <= p_until AND k.jobs > 0 OFFSET 0) c
         WHERE t.heartbeat_at > p_since - interval '1 hour'
    ), sample AS MATERIALIZED (
        SELECT c.*, lower(c.seqs) + floor(random() * (upper(c.seqs) - lower(c.seqs)))::bigint AS first_seq
          FROM claims c ORDER BY random() LIMIT p_claims_max
    )
    SELECT l.queue, k.jobs, NULL::text AS kind, NULL::float8 AS weight, NULL::float8 AS ms
      FROM (SELECT c.lane_id, sum(c.jobs)::bigint AS jobs FROM claims c GROUP BY c.lane_id) k
      JOIN awa.lanes l ON l.lane_id = k.lane_id
    UNION ALL
    SELECT l.queue, NULL, r.kind, s.jobs::float8 / count(*) OVER (PARTITION BY s.lane_id, s.claim_no, s.slot),
           extract(epoch FROM s.claimed_at - r.ready_at)::float8 * 1000
      FROM sample s
      JOIN awa.lanes l ON l.lane_id = s.lane_id
     CROSS JOIN LATERAL (SELECT e.kind, e.ready_at FROM awa.ready_entries e
                          WHERE e.slot = s.slot AND e.lane_id = s.lane_id AND e.lane_seq >= s.first_seq AND e.lane_seq < upper(s.seqs)
                            AND e.lane_seq <@ s.seqs
                          ORDER BY e.lane_seq LIMIT p_jobs_max) r;
$$;

-- The attempts of one slot that ended in an interval: how many by queue and outcome, and a sample of the jobs with their run times.
-- moves: nothing
-- index: none: the end of the slot's table of closures, where the newest are; for the sample ready_entries (lane_id, lane_seq)
--        and lane_claims (lane_id, claim_no)
-- bound: the closures behind p_from; p_closures_max of them and p_jobs_max jobs each are looked at
-- params: slot, from where in its table, since (null: from the beginning), until, closures_max, jobs_max
-- Closures are appended, so the newest are the last pages: no index is kept for this, and the hot path pays nothing. A session
-- may still fill a page that it began earlier; the caller reads some pages again and p_since leaves out what it had.
CREATE OR REPLACE FUNCTION awa.activity_ended(
    p_slot int, p_from tid, p_since timestamptz, p_until timestamptz, p_closures_max int, p_jobs_max int)
RETURNS TABLE (queue text, outcome text, jobs bigint, kind text, weight float8, ms float8)
LANGUAGE sql VOLATILE AS $$
    WITH ended AS MATERIALIZED (
        SELECT x.lane_id, x.claim_no, x.closed_at, x.outcome, x.jobs, x.seqs
          FROM awa.attempt_closures x
         WHERE x.slot = p_slot AND x.ctid >= p_from AND x.closed_at <= p_until
           AND (p_since IS NULL OR x.closed_at > p_since)
    ), sample AS MATERIALIZED (
        SELECT e.*, lower(e.seqs) + floor(random() * (upper(e.seqs) - lower(e.seqs)))::bigint AS first_seq
          FROM ended e ORDER BY random() LIMIT p_closures_max
    )
    SELECT l.queue, k.outcome::text AS outcome, k.jobs, NULL::text AS kind, NULL::float8 AS weight, NULL::float8 AS ms
      FROM (SELECT e.lane_id, e.outcome, sum(e.jobs)::bigint AS jobs FROM ended e GROUP BY e.lane_id, e.outcome) k
      JOIN awa.lanes l ON l.lane_id = k.lane_id
    UNION ALL
    SELECT l.queue, s.outcome::text, NULL, r.kind, s.jobs::float8 / count(*) OVER (PARTITION BY s.lane_id, s.claim_no, s.closed_at, s.outcome),
           extract(epoch FROM s.closed_at - c.claimed_at)::float8 * 1000
      FROM sample s
      JOIN awa.lanes l ON l.lane_id = s.lane_id
     CROSS JOIN LATERAL (SELECT e.kind, e.lane_seq FROM awa.ready_entries e
                          WHERE e.slot = p_slot AND e.lane_id = s.lane_id AND e.lane_seq >= s.first_seq AND e.lane_seq < upper(s.seqs)
                            AND e.lane_seq <@ s.seqs
                          ORDER BY e.lane_seq LIMIT p_jobs_max) r
     CROSS JOIN LATERAL (SELECT k.claimed_at FROM awa.lane_claims k
                          WHERE k.slot = p_slot AND k.lane_id = s.lane_id AND k.claim_no = s.claim_no LIMIT 1) c;
$$;

-- How long each slot's table of closures is, in pages: what was noted up to there need not be read again.
-- index: none
-- bound: the slots
CREATE OR REPLACE FUNCTION awa.closure_lengths() RETURNS bigint[]
LANGUAGE sql VOLATILE AS $$
    SELECT ARRAY(SELECT pg_relation_size(('awa.attempt_closures_' || n)::regclass) / current_setting('block_size')::bigint
                   FROM generate_series(0, (SELECT g.slots FROM awa.ring g) - 1) n ORDER BY n);
$$;
