-- Takes or renews a lease.
-- moves: nothing
-- index: leases primary key
-- bound: one row
-- params: name, holder, ttl_s, now (null: the database's clock)
SELECT name, holder, fence, expires_at, held FROM awa.take_lease(%(name)s, %(holder)s::uuid, %(ttl_s)s, %(now)s::timestamptz)
