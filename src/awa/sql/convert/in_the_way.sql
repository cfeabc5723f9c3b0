-- What keeps a schema from being converted: whoever works, runs, or is being changed.
-- moves: nothing
-- index: runtimes is small; ready_entries_running; active operations have a partial index
-- bound: one row
-- params: stale_s (silence after which a runtime counts as dead)
SELECT (SELECT count(*) FROM awa.runtimes r
         WHERE r.state = 'alive' AND r.heartbeat_at > clock_timestamp() - make_interval(secs => %(stale_s)s)) AS runtimes,
       (SELECT count(*) FROM awa.ready_entries r WHERE r.claim_id IS NOT NULL AND r.closed_at IS NULL) AS running,
       (SELECT count(*) FROM awa.batch_operations o
         WHERE o.state NOT IN ('completed', 'failed', 'cancelled')) AS operations
