-- Takes or renews a named lease by the database's clock; answers the lease as it stands.
-- moves: nothing
-- index: leases primary key
-- bound: one row
-- params: name, holder, seconds it lasts, the time (null: now). The fence grows with each new holder.
CREATE OR REPLACE FUNCTION awa.take_lease(p_name text, p_holder uuid, p_ttl_s float8, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (name text, holder uuid, fence bigint, expires_at timestamptz, held boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    now_ constant timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
    RETURN QUERY
    INSERT INTO awa.leases AS l (name, holder, acquired_at, expires_at)
    VALUES (p_name, p_holder, now_, now_ + make_interval(secs => p_ttl_s))
    ON CONFLICT (name) DO UPDATE
       SET holder = p_holder, expires_at = excluded.expires_at,
           acquired_at = CASE WHEN l.holder = p_holder THEN l.acquired_at ELSE now_ END,
           fence = CASE WHEN l.holder = p_holder THEN l.fence ELSE l.fence + 1 END
     WHERE l.holder = p_holder OR l.expires_at <= now_
    RETURNING l.name, l.holder, l.fence, l.expires_at, true;
    IF NOT FOUND THEN
        RETURN QUERY SELECT l.name, l.holder, l.fence, l.expires_at, false FROM awa.leases l WHERE l.name = p_name;
    END IF;
END $$;

-- Gives a lease back, so that the next leader need not wait for it to run out.
CREATE OR REPLACE FUNCTION awa.release_lease(p_name text, p_holder uuid) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    WITH released AS (
        UPDATE awa.leases l SET expires_at = '-infinity' WHERE l.name = p_name AND l.holder = p_holder RETURNING 1
    ) SELECT EXISTS (SELECT FROM released);
$$;
