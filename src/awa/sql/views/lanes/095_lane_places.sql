-- Jobs in a lane. A ready row is waiting (unclaimed), running (claimed, no closure) or completed (closed so); in all
-- other cases the job lives elsewhere and the row is only evidence.
-- index: ready_entries (job_id), lane_claims gist (seqs), attempt_closures (lane_id, claim_no)
-- bound: the ring
CREATE OR REPLACE VIEW awa.lane_places AS
SELECT r.job_id AS id, r.kind, h.queue,
       CASE WHEN c.claim_no IS NULL THEN 'available' WHEN x.outcome IS NULL THEN 'running' ELSE 'completed' END AS state,
       h.priority, (r.attempt + (c.claim_no IS NOT NULL)::int)::smallint AS attempt, r.max_attempts, r.args,
       coalesce(r.tags, '{}') AS tags,
       coalesce(r.metadata - '_awa_progress', '{}')
           || CASE WHEN c.claim_no IS NOT NULL AND x.outcome IS NULL
                   THEN coalesce((SELECT a.metadata FROM awa.attempts a WHERE a.lane_seq = r.lane_seq), '{}') ELSE '{}' END AS metadata,
       coalesce(r.errors, '[]') AS errors,
       coalesce(r.run_at, r.created_at) AS run_at, r.created_at, r.ready_at, c.claimed_at AS attempted_at,
       x.closed_at AS finalized_at, c.deadline_at, c.runtime_id, h.enqueue_shard,
       CASE WHEN x.outcome IS NULL THEN
           coalesce((SELECT a.progress FROM awa.attempts a WHERE a.lane_seq = r.lane_seq), r.metadata -> '_awa_progress') END AS progress
  FROM awa.ready_entries r
  JOIN awa.lane_heads h ON h.lane_id = r.lane_id
 CROSS JOIN awa.ring g
  LEFT JOIN LATERAL (
      SELECT k.claim_no, k.claimed_at, k.deadline_at, k.runtime_id
        FROM awa.lane_claims k
       WHERE k.slot = r.slot AND k.lane_id = r.lane_id AND k.jobs > 0 AND k.seqs @> r.lane_seq
         AND NOT (r.lane_seq >= h.cursor OR r.lane_seq <@ h.owed
                  OR (r.lane_seq >= g.trusted_from AND NOT pg_visible_in_snapshot(r.txid, h.seen)))
       LIMIT 1) c ON true
  LEFT JOIN LATERAL (
      SELECT k.outcome, k.closed_at FROM awa.attempt_closures k
       WHERE k.slot = r.slot AND k.lane_id = r.lane_id AND k.claim_no = c.claim_no AND k.seqs @> r.lane_seq LIMIT 1) x ON true
 WHERE coalesce(x.outcome, 'completed') = 'completed'
   AND (c.claim_no IS NOT NULL OR r.lane_seq > h.last_dead
        OR coalesce((SELECT t.last_seq FROM awa.ready_tombstones t
                      WHERE t.slot = r.slot AND t.lane_id = r.lane_id AND t.first_seq <= r.lane_seq
                      ORDER BY t.first_seq DESC LIMIT 1), -1) < r.lane_seq);
