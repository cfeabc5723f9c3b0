-- Takes the switch that holds all operations, when no step of an operation is under way.
-- moves: nothing; the lock goes with the transaction
-- index: none
-- bound: waits for the steps that are under way, a chunk each
SELECT pg_advisory_xact_lock(4719, 0)
