-- How far the limits of a queue are used up: what runs, and what was begun within its period.
-- moves: nothing
-- index: those of awa.count_running and awa.started_since
-- bound: what runs, the claims since each runtime's open_since, and a search by halves in each lane
-- params: queue
SELECT CASE WHEN m.max_running IS NOT NULL THEN awa.count_running(l.lanes) END AS running,
       CASE WHEN m.rate_limit IS NOT NULL THEN
           (awa.started_since(l.lanes, clock_timestamp() - make_interval(secs => m.rate_period_s))).jobs END AS started
  FROM awa.queue_meta m
 CROSS JOIN LATERAL (SELECT array_agg(k.lane_id) AS lanes FROM awa.lanes k WHERE k.queue = m.queue) l
 WHERE m.queue = %(queue)s
