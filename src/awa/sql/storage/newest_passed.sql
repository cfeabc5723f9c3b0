-- No job with a greater id was ever claimed in these lanes: who looks for ended jobs begins here, not among the waiting ones.
-- moves: nothing
-- index: lane_claims (lane_id, claim_no), ready_entries (lane_id, lane_seq)
-- bound: a probe a lane, and what was claimed at later positions than that: jobs that were moved or tried again
-- params: those of the filter; {places} is what of it (alias j) a lane alone can answer
-- A position is never less than its job's id, for a job gets later positions as it is moved or tried again. So a job with an id
-- above M stands at a position above M, and with M the greatest id among the lanes' last passed ones there are few of those.
WITH heads AS MATERIALIZED (
    SELECT j.lane_id, j.passed_below FROM awa.lane_passed j WHERE {places}
), last AS MATERIALIZED (
    SELECT max(r.job_id) AS job_id
      FROM heads h CROSS JOIN LATERAL (
           SELECT e.job_id FROM awa.ready_entries e WHERE e.lane_id = h.lane_id AND e.lane_seq < h.passed_below
            ORDER BY e.lane_seq DESC LIMIT 1) r
)
SELECT max(r.job_id) AS newest
  FROM last m CROSS JOIN heads h CROSS JOIN LATERAL (
       SELECT e.job_id FROM awa.ready_entries e
        WHERE e.lane_id = h.lane_id AND e.lane_seq >= m.job_id AND e.lane_seq < h.passed_below OFFSET 0) r
