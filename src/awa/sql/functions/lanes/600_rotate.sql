-- Opens the next ring slot when the current one is old or big enough; answers what it did.
-- moves: nothing
-- index: none
-- bound: one row; looks at the first row of the next slot's tables
-- params: age in seconds and size in bytes at which a slot is closed, the time (null: now)
-- Only into an empty slot: otherwise the ring stands still and the current slot grows ('blocked').
CREATE OR REPLACE FUNCTION awa.rotate(p_max_age_s float8, p_max_bytes bigint, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    now_ constant timestamptz := coalesce(p_now, clock_timestamp());
    ring awa.ring;
    next_slot smallint;
BEGIN
    PERFORM awa.require_read_committed();
    UPDATE awa.ring SET last_txid = pg_current_xact_id() WHERE one RETURNING * INTO ring;
    IF awa.slot_is_empty(ring.current_slot) THEN
        UPDATE awa.ring SET opened_at = now_ WHERE one;
        RETURN 'empty';
    END IF;
    IF ring.opened_at > now_ - make_interval(secs => p_max_age_s)
       AND pg_total_relation_size(format('awa.ready_entries_%s', ring.current_slot)::regclass) < p_max_bytes THEN
        RETURN 'young';
    END IF;
    next_slot := (ring.current_slot + 1) % ring.slots;
    IF NOT awa.slot_is_empty(next_slot) THEN RETURN 'blocked'; END IF;
    -- A retired slot may look empty because all of it was carried; it has yet to be emptied.
    IF EXISTS (SELECT FROM awa.ring_slots s WHERE s.slot = next_slot AND s.retired_txid IS NOT NULL) THEN RETURN 'blocked'; END IF;
    UPDATE awa.ring SET current_slot = next_slot, opened_at = now_ WHERE one;
    RETURN 'rotated';
END $$;

-- Has no row in any of a slot's four tables?
-- bound: four probes
CREATE OR REPLACE FUNCTION awa.slot_is_empty(p_slot int) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN NOT EXISTS (SELECT FROM awa.ready_entries WHERE slot = p_slot)
       AND NOT EXISTS (SELECT FROM awa.lane_claims WHERE slot = p_slot)
       AND NOT EXISTS (SELECT FROM awa.ready_tombstones WHERE slot = p_slot)
       AND NOT EXISTS (SELECT FROM awa.attempt_closures WHERE slot = p_slot);
END $$;
