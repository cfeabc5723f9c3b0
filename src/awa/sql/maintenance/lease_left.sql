-- Says who holds a lease and for how long; no row: nobody ever held it.
-- moves: nothing
-- index: leases primary key
-- bound: one row
-- params: name
-- The clock stands in the SELECT list and not in WHERE: there it would cost the index.
SELECT holder, fence, extract(epoch FROM expires_at - clock_timestamp())::float8 AS left_s
  FROM awa.leases
 WHERE name = %(name)s
