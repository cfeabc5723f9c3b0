-- Says whether the lease is still in these hands under this fence number, by the database's clock.
-- moves: nothing
-- index: leases primary key
-- bound: one row
-- params: name, holder, fence
SELECT holder = %(holder)s::uuid AND fence = %(fence)s AND expires_at > clock_timestamp() AS leads
  FROM awa.leases
 WHERE name = %(name)s
