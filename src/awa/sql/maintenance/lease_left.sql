-- Says who holds a lease and for how long; no row: nobody ever held it.
-- moves: nothing
-- index: leases primary key
-- bound: one row
-- params: name
-- A lease that was given back ended at -infinity, and PostgreSQL 15 can't say how long ago that is.
SELECT holder, fence,
       CASE WHEN expires_at > clock_timestamp() THEN extract(epoch FROM expires_at - clock_timestamp())::float8 ELSE 0 END AS left_s
  FROM awa.leases
 WHERE name = %(name)s
