-- The jobs that wait in lanes, for reading many of them: counts, breakdowns and pages walk this, lane by lane.
-- index: per lane from its cursor on: ready_entries (lane_id, lane_seq); owed: the same; late: (lane_id, txid, lane_seq);
--        ready_tombstones (lane_id, first_seq)
-- bound: the backlog, and what was taken out of it ahead of the cursors; history is not touched, whatever the statistics say
-- The same jobs as those of awa.waiting_jobs that wait in a lane. Every branch is a walk of its own (OFFSET 0), so the planner
-- can't turn it around and read a lane's history: 100,000 rows take 25 ms here and 330 ms there. What it can't do is find one job
-- by its id; for that there is awa.waiting_jobs. Late rows are those of the transactions that ran when the newest claim was
-- made, one probe each, and those of later ones: a transaction that stays open for hours costs a probe, not its hours.
-- Beyond the cursor a lane's tombstones are gathered once, as one set: a probe a row would cost twenty times the row after an
-- operation has moved a whole lane.
CREATE OR REPLACE VIEW awa.lane_backlog AS
WITH heads AS MATERIALIZED (
    SELECT h.*, g.trusted_from,
           CASE WHEN h.last_dead >= h.cursor THEN (
               SELECT range_agg(int8range(t.first_seq, t.last_seq + 1))
                 FROM (SELECT i.first_seq, i.last_seq FROM awa.ready_tombstones i
                        WHERE i.lane_id = h.lane_id AND i.first_seq >= h.cursor
                       UNION ALL
                       (SELECT b.first_seq, b.last_seq FROM awa.ready_tombstones b
                         WHERE b.lane_id = h.lane_id AND b.first_seq < h.cursor ORDER BY b.first_seq DESC LIMIT 1)) t) END AS dead
      FROM awa.lane_heads h CROSS JOIN awa.ring g
)
SELECT r.job_id AS id, r.kind, r.queue, 'available' AS state, r.priority, r.attempt, r.max_attempts, r.args,
       coalesce(r.tags, '{}') AS tags, coalesce(r.metadata, '{}') AS metadata, coalesce(r.errors, '[]') AS errors,
       coalesce(r.run_at, r.created_at) AS run_at, r.created_at, r.ready_at, NULL::timestamptz AS attempted_at,
       NULL::timestamptz AS finalized_at, NULL::timestamptz AS deadline_at, NULL::uuid AS runtime_id, r.enqueue_shard,
       NULL::jsonb AS progress, r.lane_id, r.lane_seq, r.slot
  FROM (
      SELECT e.*, h.queue, h.priority, h.enqueue_shard
        FROM heads h CROSS JOIN LATERAL (
             SELECT k.* FROM awa.ready_entries k WHERE k.lane_id = h.lane_id AND k.lane_seq >= h.cursor OFFSET 0) e
       WHERE h.dead IS NULL OR NOT e.lane_seq <@ h.dead
      UNION ALL
      SELECT e.*, h.queue, h.priority, h.enqueue_shard
        FROM heads h CROSS JOIN LATERAL (
             SELECT k.* FROM unnest(h.owed) g CROSS JOIN LATERAL (
                    SELECT o.* FROM awa.ready_entries o
                     WHERE o.lane_id = h.lane_id AND o.lane_seq >= lower(g) AND o.lane_seq < upper(g) OFFSET 0) k
             UNION ALL
             SELECT k.* FROM pg_snapshot_xip(h.seen) x CROSS JOIN LATERAL (
                    SELECT o.* FROM awa.ready_entries o WHERE o.lane_id = h.lane_id AND o.txid = x OFFSET 0) k
              WHERE k.lane_seq < h.cursor AND k.lane_seq >= h.trusted_from AND NOT k.lane_seq <@ h.owed
             UNION ALL
             SELECT k.* FROM (
                    SELECT o.* FROM awa.ready_entries o
                     WHERE o.lane_id = h.lane_id AND o.txid >= pg_snapshot_xmax(h.seen) OFFSET 0) k
              WHERE k.lane_seq < h.cursor AND k.lane_seq >= h.trusted_from AND NOT k.lane_seq <@ h.owed
             OFFSET 0) e
       WHERE e.lane_seq > h.last_dead
          OR coalesce((SELECT t.last_seq FROM awa.ready_tombstones t
                        WHERE t.slot = e.slot AND t.lane_id = h.lane_id AND t.first_seq <= e.lane_seq
                        ORDER BY t.first_seq DESC LIMIT 1), -1) < e.lane_seq
  ) r;
