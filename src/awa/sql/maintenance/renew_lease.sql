-- Prolongs the lease of this very term; no row: another has it, or had it in between, or its runtime was declared dead.
-- moves: nothing
-- index: leases and runtimes primary keys
-- bound: one row
-- params: name, holder, fence, ttl_s
-- Not awa.take_lease: that would also take a lease that has run out in other hands, past the gate.
UPDATE awa.leases
   SET expires_at = clock_timestamp() + make_interval(secs => %(ttl_s)s)
 WHERE name = %(name)s AND holder = %(holder)s::uuid AND fence = %(fence)s
   AND NOT EXISTS (SELECT FROM awa.runtimes r WHERE r.id = holder AND r.state <> 'alive')
RETURNING expires_at
