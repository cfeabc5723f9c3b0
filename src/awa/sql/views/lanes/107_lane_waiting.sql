-- The jobs that wait in lanes, with where, for finding some of them by id. The same columns as awa.jobs.
-- index: per lane from its cursor on: ready_entries (lane_id, lane_seq); owed: the same; late: (lane_id, txid, lane_seq)
-- bound: the backlog; history is not touched
-- Three disjoint ways to be unclaimed, each with its own index: past the cursor, owed, late.
-- Sub-selects of their own (OFFSET 0) and few conditions inside: without statistics the planner would rather read the lane's
-- whole history than begin with the owed ranges, or with the transactions that ended late.
CREATE OR REPLACE VIEW awa.lane_waiting AS
WITH heads AS (
    SELECT h.*, g.trusted_from FROM awa.lane_heads h CROSS JOIN awa.ring g
)
SELECT r.job_id AS id, r.kind, r.queue, 'available' AS state, r.priority, r.attempt, r.max_attempts, r.args,
       coalesce(r.tags, '{}') AS tags, coalesce(r.metadata - '_awa_progress', '{}') AS metadata, coalesce(r.errors, '[]') AS errors,
       coalesce(r.run_at, r.created_at) AS run_at, r.created_at, r.ready_at, NULL::timestamptz AS attempted_at,
       NULL::timestamptz AS finalized_at, NULL::timestamptz AS deadline_at, NULL::uuid AS runtime_id, r.enqueue_shard,
       r.metadata -> '_awa_progress' AS progress, r.lane_id, r.lane_seq, r.slot
  FROM (
      SELECT e.*, h.queue, h.priority, h.enqueue_shard, h.last_dead
        FROM heads h JOIN awa.ready_entries e ON e.lane_id = h.lane_id AND e.lane_seq >= h.cursor
      UNION ALL
      SELECT e.*, h.queue, h.priority, h.enqueue_shard, h.last_dead
        FROM heads h CROSS JOIN LATERAL unnest(h.owed) g CROSS JOIN LATERAL (
             SELECT k.* FROM awa.ready_entries k
              WHERE k.lane_id = h.lane_id AND k.lane_seq >= lower(g) AND k.lane_seq < upper(g) OFFSET 0) e
      UNION ALL
      SELECT e.*, h.queue, h.priority, h.enqueue_shard, h.last_dead
        FROM heads h CROSS JOIN LATERAL (
             SELECT k.* FROM awa.ready_entries k
              WHERE k.lane_id = h.lane_id AND k.txid >= pg_snapshot_xmin(h.seen) AND k.lane_seq < h.cursor
                AND NOT pg_visible_in_snapshot(k.txid, h.seen) OFFSET 0) e
       WHERE e.lane_seq >= h.trusted_from AND NOT e.lane_seq <@ h.owed
  ) r
 WHERE r.lane_seq > r.last_dead
    OR coalesce((SELECT t.last_seq FROM awa.ready_tombstones t
                  WHERE t.slot = r.slot AND t.lane_id = r.lane_id AND t.first_seq <= r.lane_seq
                  ORDER BY t.first_seq DESC LIMIT 1), -1) < r.lane_seq;
