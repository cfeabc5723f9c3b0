-- Who works and who keeps house, and what waits for the one who keeps house.
-- moves: nothing
-- index: runtimes and leases are small; active operations have a partial index
-- bound: one row
-- params: stale_s (silence after which a runtime counts as dead), lease (name)
SELECT (SELECT extract(epoch FROM greatest(l.expires_at, clock_timestamp() - interval '1 day') - clock_timestamp())::float8 FROM awa.leases l WHERE l.name = %(lease)s) AS lease_left_s,
       count(*) FILTER (WHERE r.fresh AND 'worker' = ANY (r.roles)) AS workers,
       count(*) FILTER (WHERE r.fresh AND 'maintenance' = ANY (r.roles)) AS keepers,
       count(*) FILTER (WHERE NOT r.fresh) AS silent,
       (SELECT count(*) FROM awa.batch_operations o WHERE o.state IN ('pending', 'scanning', 'running', 'paused', 'cancelling')) AS operations
  FROM (SELECT roles, heartbeat_at > clock_timestamp() - make_interval(secs => %(stale_s)s) AS fresh
          FROM awa.runtimes WHERE state = 'alive') r
