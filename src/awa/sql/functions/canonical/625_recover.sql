-- After a restore into another cluster: from now on all older rows count as visible. Answers whether there was anything to do.
-- moves: nothing
-- index: none
-- bound: one row
-- Writers are kept out: the line must lie behind every position that was drawn before.
CREATE OR REPLACE FUNCTION awa.recover_after_restore() RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM awa.require_read_committed();
    IF NOT awa.was_restored() THEN RETURN false; END IF;
    LOCK TABLE awa.ready_entries IN SHARE ROW EXCLUSIVE MODE;
    UPDATE awa.ring SET last_txid = pg_current_xact_id(),
           trusted_from = (SELECT CASE WHEN p.is_called THEN p.last_value + 1 ELSE p.last_value END FROM awa.job_positions p),
           system_identifier = (SELECT s.system_identifier FROM pg_control_system() s);
    RETURN true;
END $$;
