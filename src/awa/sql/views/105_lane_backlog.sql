-- The jobs that wait in lanes, for reading many of them: counts, breakdowns and pages walk this, lane by lane.
-- index: per lane from its cursor on: ready_entries (lane_id, lane_seq); owed: the same; late: (lane_id, txid, lane_seq)
-- bound: the backlog; history is not touched, whatever the statistics say
-- The same jobs as those of awa.waiting_jobs that wait in a lane. Every branch is a walk of its own (OFFSET 0), so the planner
-- can't turn it around and read a lane's history: 100,000 rows take 25 ms here and 330 ms there. What it can't do is find one job
-- by its id; for that there is awa.waiting_jobs. Late rows are those of the transactions that ran when the newest claim was
-- made, one probe each, and those of later ones: a transaction that stays open for hours costs a probe, not its hours.
CREATE OR REPLACE VIEW awa.lane_backlog AS
WITH heads AS MATERIALIZED (
    SELECT h.*, g.trusted_from FROM awa.lane_heads h CROSS JOIN awa.ring g
)
SELECT r.job_id AS id, r.kind, r.queue, 'available' AS state, r.priority, r.attempt, r.max_attempts, r.args,
       coalesce(r.tags, '{}') AS tags, coalesce(r.metadata, '{}') AS metadata, coalesce(r.errors, '[]') AS errors,
       coalesce(r.run_at, r.created_at) AS run_at, r.created_at, r.ready_at, NULL::timestamptz AS attempted_at,
       NULL::timestamptz AS finalized_at, NULL::timestamptz AS deadline_at, NULL::uuid AS runtime_id, r.enqueue_shard,
       NULL::jsonb AS progress, r.lane_id, r.lane_seq, r.slot
  FROM (
      SELECT e.*, h.queue, h.priority, h.enqueue_shard, h.last_dead
        FROM heads h CROSS JOIN LATERAL (
             SELECT k.* FROM awa.ready_entries k WHERE k.lane_id = h.lane_id AND k.lane_seq >= h.cursor OFFSET 0) e
      UNION ALL
      SELECT e.*, h.queue, h.priority, h.enqueue_shard, h.last_dead
        FROM heads h CROSS JOIN LATERAL unnest(h.owed) g CROSS JOIN LATERAL (
             SELECT k.* FROM awa.ready_entries k
              WHERE k.lane_id = h.lane_id AND k.lane_seq >= lower(g) AND k.lane_seq < upper(g) OFFSET 0) e
      UNION ALL
      SELECT e.*, h.queue, h.priority, h.enqueue_shard, h.last_dead
        FROM heads h CROSS JOIN LATERAL pg_snapshot_xip(h.seen) x CROSS JOIN LATERAL (
             SELECT k.* FROM awa.ready_entries k WHERE k.lane_id = h.lane_id AND k.txid = x OFFSET 0) e
       WHERE e.lane_seq < h.cursor AND e.lane_seq >= h.trusted_from AND NOT e.lane_seq <@ h.owed
      UNION ALL
      SELECT e.*, h.queue, h.priority, h.enqueue_shard, h.last_dead
        FROM heads h CROSS JOIN LATERAL (
             SELECT k.* FROM awa.ready_entries k WHERE k.lane_id = h.lane_id AND k.txid >= pg_snapshot_xmax(h.seen) OFFSET 0) e
       WHERE e.lane_seq < h.cursor AND e.lane_seq >= h.trusted_from AND NOT e.lane_seq <@ h.owed
  ) r
 WHERE r.lane_seq > r.last_dead
    OR coalesce((SELECT t.last_seq FROM awa.ready_tombstones t
                  WHERE t.slot = r.slot AND t.lane_id = r.lane_id AND t.first_seq <= r.lane_seq
                  ORDER BY t.first_seq DESC LIMIT 1), -1) < r.lane_seq;
