-- The session whose snapshot or transaction is the oldest: while it lasts, vacuum leaves what it might see.
-- moves: nothing
-- index: none
-- bound: the sessions there are
-- Of other roles' sessions the server may show the process alone; `visible` says whether it showed more.
SELECT a.pid, a.state, a.application_name AS application, extract(epoch FROM clock_timestamp() - a.xact_start)::float8 AS age_s,
       greatest(age(a.backend_xmin), age(a.backend_xid)) AS xid_age, a.xact_start IS NOT NULL AS visible
  FROM pg_stat_activity a
 WHERE (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL) AND a.pid <> pg_backend_pid() AND a.datname = current_database()
 ORDER BY greatest(age(a.backend_xmin), age(a.backend_xid)) DESC NULLS LAST, a.xact_start
 LIMIT 1
