-- There is no ring to move on: notes the newest transaction id, by which a restore into another cluster is recognised.
-- moves: nothing
-- index: none
-- bound: one row
-- params: as in the lanes storage; answers young
CREATE OR REPLACE FUNCTION awa.rotate(p_max_age_s float8, p_max_bytes bigint, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM awa.require_read_committed();
    UPDATE awa.ring SET last_txid = pg_current_xact_id() WHERE one;
    RETURN 'young';
END $$;
