-- Says whether the lease is still in these hands under this fence number, by the database's clock, and these hands count as alive.
-- moves: nothing
-- index: leases and runtimes primary keys
-- bound: one row
-- params: name, holder, fence
-- A runtime that was declared dead registers under a new id, and leads again under that one or not at all.
SELECT holder = %(holder)s::uuid AND fence = %(fence)s AND expires_at > clock_timestamp()
       AND NOT EXISTS (SELECT FROM awa.runtimes r WHERE r.id = holder AND r.state <> 'alive') AS leads
  FROM awa.leases
 WHERE name = %(name)s
