-- How many attempts the runtime of one process has begun and not ended.
-- moves: nothing
-- index: lane_claims (runtime_id, claimed_at)
-- bound: the open attempts of one runtime
-- params: pid
SELECT count(*) AS held
  FROM awa.runtimes r
 CROSS JOIN LATERAL awa.open_attempts(r.id, r.open_since - interval '1 second') o
 WHERE r.pid = %(pid)s AND 'worker' = ANY (r.roles)
