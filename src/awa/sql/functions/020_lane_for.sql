-- Finds the lane of (queue, priority, shard), or makes it at first use.
-- moves: nothing
-- index: lanes unique (queue, priority, enqueue_shard, copy)
-- bound: at most 16 copies tried, 50 ms each
-- A transaction that makes a lane and stays open must not hold up others: whoever cannot have the twin's name
-- within 50 ms makes a second lane of the same meaning. Claims go through all of them.
CREATE OR REPLACE FUNCTION awa.lane_for(p_queue text, p_priority int, p_shard int DEFAULT 0) RETURNS int
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    lane int;
BEGIN
    SELECT l.lane_id INTO lane FROM awa.lanes l
     WHERE l.queue = p_queue AND l.priority = p_priority AND l.enqueue_shard = p_shard
     ORDER BY l.copy LIMIT 1;
    IF NOT FOUND THEN
        lane := awa.make_lane(p_queue, p_priority, p_shard);
    END IF;
    RETURN lane;
END $$;

CREATE OR REPLACE FUNCTION awa.make_lane(p_queue text, p_priority int, p_shard int) RETURNS int
LANGUAGE plpgsql VOLATILE SET lock_timeout = '50ms' AS $$
DECLARE
    lane int;
BEGIN
    FOR copy_no IN 0 .. 15 LOOP
        BEGIN
            INSERT INTO awa.lanes (queue, priority, enqueue_shard, copy, effective_priority)
            VALUES (p_queue, p_priority, p_shard, copy_no, p_priority)
            ON CONFLICT DO NOTHING RETURNING lane_id INTO lane;
            IF lane IS NULL THEN
                SELECT l.lane_id INTO lane FROM awa.lanes l
                 WHERE l.queue = p_queue AND l.priority = p_priority AND l.enqueue_shard = p_shard
                 ORDER BY l.copy LIMIT 1;
            END IF;
            RETURN lane;
        EXCEPTION WHEN lock_not_available THEN
            CONTINUE;
        END;
    END LOOP;
    RAISE EXCEPTION 'no lane for queue %, priority %: 16 transactions are making it and stay open', p_queue, p_priority
        USING ERRCODE = '55P03', HINT = 'Try again when they have ended, or run: awa queue stats.';
END $$;

-- Which shard of a queue a job goes to: its ordering key decides, without one any will do.
-- bound: one row of queue_meta
CREATE OR REPLACE FUNCTION awa.shard_for(p_shards int, p_ordering_key text) RETURNS int
LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN p_shards <= 1 THEN 0
                WHEN p_ordering_key IS NULL THEN floor(random() * p_shards)::int
                ELSE (hashtextextended(p_ordering_key, 0) & 2147483647)::int % p_shards END;
$$;
