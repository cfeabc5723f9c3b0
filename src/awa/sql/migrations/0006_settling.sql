-- When a runtime that ended can be counted as settled, by transactions and not by the clock.

-- settle_from: a transaction id that was given out after a rescue had seen the end committed. Every claim of the runtime has
-- a lower one (awa.claim asks once more whether it lives, after it has its id), so when all lower ones have ended, nothing
-- of the runtime can appear any more. Null: not seen yet.
ALTER TABLE awa.runtimes ADD COLUMN settle_from xid8;
