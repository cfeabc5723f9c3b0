-- Gives a lease back.
-- moves: nothing
-- index: leases primary key
-- bound: one row
-- params: name, holder
SELECT awa.release_lease(%(name)s, %(holder)s::uuid) AS released
