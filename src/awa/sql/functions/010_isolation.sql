-- Refuses every isolation level but READ COMMITTED: each verb re-reads in a new statement what was committed
-- while it waited for locks, which one frozen snapshot would hide (a claim or a move would double silently).
-- moves: nothing
-- index: none
-- bound: constant
CREATE OR REPLACE FUNCTION awa.require_read_committed() RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION 'awa functions run at READ COMMITTED only, this transaction is %',
            upper(current_setting('transaction_isolation'))
            USING ERRCODE = '25001',
                  HINT = 'Begin the transaction with ISOLATION LEVEL READ COMMITTED.';
    END IF;
END $$;

-- Stops at a named place while a test holds the place's lock; the setting is never on outside of tests.
-- params: the place, such as 'claim.after_locks'
CREATE OR REPLACE FUNCTION awa.pause_point(place text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF place = ANY (string_to_array(current_setting('awa.pause_points', true), ',')) THEN
        PERFORM awa.stand_at(place);
    END IF;
END $$;

-- However long the test likes: a lock_timeout of the function around it doesn't count here.
CREATE OR REPLACE FUNCTION awa.stand_at(place text) RETURNS void
LANGUAGE plpgsql VOLATILE SET lock_timeout = 0 AS $$
BEGIN
    PERFORM pg_advisory_lock(4714, hashtext(place));
    PERFORM pg_advisory_unlock(4714, hashtext(place));
END $$;
