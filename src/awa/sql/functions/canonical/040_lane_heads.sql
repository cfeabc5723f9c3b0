-- Each lane, in the words of the lanes storage: nothing has been passed for good (cursor 0), nothing is owed, nothing is
-- tombstoned. Whether a row still waits is said by the row.
-- index: ready_entries_waiting
CREATE OR REPLACE VIEW awa.lane_heads AS
SELECT l.lane_id, l.queue, l.priority, l.enqueue_shard, l.effective_priority,
       0::bigint AS claim_no, 0::bigint AS cursor, NULL::pg_snapshot AS seen, '{}'::int8multirange AS owed,
       NULL::timestamptz AS claimed_at, NULL::smallint AS slot, -1::bigint AS last_dead, 0::bigint AS total,
       coalesce((SELECT min(r.lane_seq) FROM awa.ready_entries r WHERE r.lane_id = l.lane_id AND r.claim_id IS NULL),
                9223372036854775807) AS first_waiting
  FROM awa.lanes l;
