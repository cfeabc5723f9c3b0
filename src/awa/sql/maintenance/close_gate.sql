-- Takes the gate of a lease for a new leader, if no duty of the old one is inside.
-- moves: nothing; the lock goes with the transaction
-- index: none
-- bound: constant
-- params: name
-- 4715 is the lock class of lease gates. A lock of the transaction, not of the session: it works behind a pooler.
SELECT pg_try_advisory_xact_lock(4715, hashtext(%(name)s)) AS closed
