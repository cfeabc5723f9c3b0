-- The attempts of one slot that ended in an interval: how many by queue and outcome, and a sample of the jobs with their run times.
-- moves: nothing
-- index: none: the end of the slot's table of closures, where the newest are; for the sample ready_entries (lane_id, lane_seq)
--        and lane_claims (lane_id, claim_no)
-- bound: the closures behind `from_tid`; closures_max of them and jobs_max jobs each are looked at
-- params: slot, from_tid, since (null: from the beginning), until, closures_max, jobs_max
-- Closures are appended, so the newest are the last pages: no index is kept for this, and the hot path pays nothing. A session
-- may still fill a page that it began earlier; the caller reads some pages again and `since` leaves out what it had.
WITH ended AS MATERIALIZED (
    SELECT x.lane_id, x.claim_no, x.closed_at, x.outcome, x.jobs, x.seqs
      FROM awa.attempt_closures x
     WHERE x.slot = %(slot)s AND x.ctid >= %(from_tid)s::tid AND x.closed_at <= %(until)s
       AND (%(since)s::timestamptz IS NULL OR x.closed_at > %(since)s)
), sample AS MATERIALIZED (
    SELECT e.*, lower(e.seqs) + floor(random() * (upper(e.seqs) - lower(e.seqs)))::bigint AS first_seq
      FROM ended e ORDER BY random() LIMIT %(closures_max)s
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
                      WHERE e.slot = %(slot)s AND e.lane_id = s.lane_id AND e.lane_seq >= s.first_seq AND e.lane_seq < upper(s.seqs)
                        AND e.lane_seq <@ s.seqs
                      ORDER BY e.lane_seq LIMIT %(jobs_max)s) r
 CROSS JOIN LATERAL (SELECT k.claimed_at FROM awa.lane_claims k
                      WHERE k.slot = %(slot)s AND k.lane_id = s.lane_id AND k.claim_no = s.claim_no LIMIT 1) c
