-- Each queue in which something waits: how much, how long, whether it is paused, and how many runtimes work on it.
-- moves: nothing
-- index: that of awa.available_backlog_of
-- bound: the backlog
-- params: stale_s (silence after which a runtime counts as dead)
SELECT w.queue, w.available, w.oldest_s, coalesce(m.paused, false) AS paused,
       (SELECT count(*) FROM awa.runtimes r
         WHERE r.state = 'alive' AND r.queues ? w.queue
           AND r.heartbeat_at > clock_timestamp() - make_interval(secs => %(stale_s)s)) AS workers
  FROM (SELECT j.queue, count(*) AS available, extract(epoch FROM clock_timestamp() - min(j.ready_at))::float8 AS oldest_s
          FROM awa.available_backlog_of(NULL, NULL) j GROUP BY j.queue) w
  LEFT JOIN awa.queue_meta m ON m.queue = w.queue
 ORDER BY w.queue
