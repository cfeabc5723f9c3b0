-- After a restore into another cluster: txids that were stored there mean nothing here.

-- Does the database live in another cluster than the one that wrote its txids?
-- moves: nothing
-- index: none
-- bound: one row
CREATE OR REPLACE FUNCTION awa.was_restored() RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    SELECT g.last_txid > pg_current_xact_id() OR g.system_identifier <> (SELECT s.system_identifier FROM pg_control_system() s)
      FROM awa.ring g;
$$;
