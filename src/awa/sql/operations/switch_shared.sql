-- Keeps the switch that holds all operations where it is, as long as this transaction lasts.
-- moves: nothing; the lock goes with the transaction
-- index: none
-- bound: waits at most for whoever is turning the switch
-- Steps of operations share it; whoever turns it waits for them, and so knows that nothing is under way afterwards.
SELECT pg_advisory_xact_lock_shared(4719, 0)
