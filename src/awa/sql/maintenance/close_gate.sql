-- Takes the gate of a lease for a new leader, if no duty of the old one is inside and nobody declared the new one dead.
-- moves: nothing; the lock goes with the transaction
-- index: runtimes primary key
-- bound: constant
-- params: name, holder (the new leader)
-- 4715 is the lock class of lease gates. A lock of the transaction, not of the session: it works behind a pooler.
SELECT pg_try_advisory_xact_lock(4715, hashtext(%(name)s))
   AND NOT EXISTS (SELECT FROM awa.runtimes r WHERE r.id = %(holder)s::uuid AND r.state <> 'alive') AS closed
