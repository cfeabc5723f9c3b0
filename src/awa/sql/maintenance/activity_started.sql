-- The jobs that were claimed in an interval: how many by queue, and a sample of them with how long they had waited.
-- moves: nothing
-- index: lane_claims (runtime_id, claimed_at); for the sample ready_entries (lane_id, lane_seq)
-- bound: the claims of the interval; claims_max of them and jobs_max jobs each are looked at
-- params: since, until, claims_max, jobs_max
WITH claims AS MATERIALIZED (
    SELECT c.lane_id, c.claim_no, c.slot, c.claimed_at, c.jobs, c.seqs
      FROM awa.runtimes t
     CROSS JOIN LATERAL (SELECT k.* FROM awa.lane_claims k
                          WHERE k.runtime_id = t.id AND k.claimed_at > %(since)s AND k.claimed_at <= %(until)s AND k.jobs > 0 OFFSET 0) c
     WHERE t.heartbeat_at > %(since)s - interval '1 hour'
), sample AS MATERIALIZED (
    SELECT c.*, lower(c.seqs) + floor(random() * (upper(c.seqs) - lower(c.seqs)))::bigint AS first_seq
      FROM claims c ORDER BY random() LIMIT %(claims_max)s
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
                      ORDER BY e.lane_seq LIMIT %(jobs_max)s) r
