-- Who keeps house, and for how long without another sign of life.
-- moves: nothing
-- index: primary keys
-- bound: one row
SELECT l.holder AS id, t.host, t.pid, l.acquired_at, l.fence, extract(epoch FROM l.expires_at - clock_timestamp())::float8 AS lease_left_s
  FROM awa.leases l LEFT JOIN awa.runtimes t ON t.id = l.holder
 WHERE l.name = 'maintenance' AND l.expires_at > clock_timestamp()
