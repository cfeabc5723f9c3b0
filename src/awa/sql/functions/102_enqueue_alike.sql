-- Adds a set of jobs that differ in their arguments alone, the fast way; answers their ids, in the order given.
-- moves: nothing -> available | scheduled
-- index: appends to ready_entries; scheduled ones go by awa.enqueue_many
-- bound: the set; the caller splits at 10,000 jobs
-- params: as awa.enqueue, but args is an array of JSON texts
-- The id of the transaction comes before any position is drawn, as in awa.enqueue.
CREATE OR REPLACE FUNCTION awa.enqueue_alike(
    p_queue text, p_kind text, p_args text[], p_priority int, p_run_at timestamptz, p_max_attempts int,
    p_tags text[], p_metadata jsonb, p_ordering_key text,
    OUT job_ids bigint[], OUT state text, OUT created_at timestamptz)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    own_txid constant xid8 := pg_current_xact_id();
    n constant int := coalesce(cardinality(p_args), 0);
    shards int;
    shard int;
    lanes int[];
    lane int;
    route constant bytea := sha256(convert_to(p_ordering_key, 'UTF8'));
BEGIN
    PERFORM awa.require_read_committed();
    PERFORM awa.check_new_job(p_queue, p_kind, p_priority, p_max_attempts);
    PERFORM awa.check_new_job_extras(p_run_at, p_tags, p_metadata);
    created_at := clock_timestamp();
    state := CASE WHEN p_run_at > created_at THEN 'scheduled' ELSE 'available' END;
    IF state = 'scheduled' THEN
        SELECT array_agg(e.job_id ORDER BY e.ord) INTO job_ids
          FROM awa.enqueue_many(
                   p_queue, array_fill(p_kind, ARRAY[n]), p_args, array_fill(p_priority::smallint, ARRAY[n]),
                   array_fill(p_run_at, ARRAY[n]), array_fill(p_max_attempts::smallint, ARRAY[n]),
                   array_fill(to_jsonb(p_tags), ARRAY[n]), array_fill(p_metadata, ARRAY[n]),
                   array_fill(p_ordering_key, ARRAY[n])) e;
        RETURN;
    END IF;
    SELECT coalesce((SELECT m.enqueue_shards FROM awa.queue_meta m WHERE m.queue = p_queue), 1) INTO shards;
    shard := CASE WHEN p_ordering_key IS NOT NULL THEN awa.shard_for(shards, p_ordering_key) END;
    SELECT array_agg(awa.lane_for(p_queue, p_priority, s) ORDER BY s) INTO lanes
      FROM generate_series(coalesce(shard, 0), coalesce(shard, shards - 1)) s;
    lane := CASE WHEN cardinality(lanes) = 1 THEN lanes[1] END;
    -- All positions before the first row: an insert that answers each row as it writes it costs a fifth more.
    job_ids := ARRAY(SELECT nextval('awa.job_positions') FROM generate_series(1, n));
    INSERT INTO awa.ready_entries
           (lane_seq, job_id, txid, ready_at, created_at, run_at, lane_id, slot, max_attempts, route_shard,
            kind, args, tags, metadata, route_key)
    SELECT k.place, k.place, own_txid, created_at, created_at, p_run_at,
           coalesce(lane, lanes[1 + floor(random() * cardinality(lanes))::int]),
           (SELECT g.current_slot FROM awa.ring g), p_max_attempts, shard, p_kind, k.doc::json, p_tags, p_metadata, route
      FROM (SELECT unnest(job_ids) AS place, unnest(p_args) AS doc) k;
    PERFORM awa.notify_if_idle(p_queue);
END $$;
