-- Lists the waiting jobs of one lane, a page at a time; the walk says in which order and from where.
-- moves: nothing; adds items
-- index: that of the walk; ready_tombstones (lane_id, first_seq)
-- bound: rows examined, whether they match or not
-- params: id (operation), lane, bound (greatest job id), rows, left (items that may still be listed; null: any number), those of the walk, and those of the filter
-- The tombstones of the page are read at once: one probe a row would cost more than the row. So it is with items: ids
-- beyond the last one listed are new, and only others are looked for. Nobody else adds items, the operation is held.
WITH head AS MATERIALIZED (
    SELECT h.lane_id, h.queue, h.priority, h.cursor, h.first_waiting, h.owed, h.seen, g.trusted_from
      FROM awa.lane_heads h CROSS JOIN awa.ring g
     WHERE h.lane_id = %(lane)s
), page AS MATERIALIZED (
    SELECT j.id, j.lane_seq, j.slot, j.txid, j.due AND j.unclaimed AND j.id <= %(bound)s AND ({filter}) AS matches
      FROM (SELECT r.job_id AS id, r.kind, h.queue, 'available'::text AS state, h.priority, r.attempt, r.created_at,
                   coalesce(r.run_at, r.created_at) AS run_at, r.args, coalesce(r.tags, ARRAY[]::text[]) AS tags,
                   coalesce(r.errors, jsonb_build_array()) AS errors, NULL::timestamptz AS finalized_at,
                   r.lane_seq, r.slot, r.txid, r.due, r.unclaimed
              FROM head h CROSS JOIN LATERAL ({walk}) r) j
), ends AS MATERIALIZED (
    SELECT count(*) AS walked, min(lane_seq) AS first_seq, max(lane_seq) AS last_seq, max(txid) AS last_txid FROM page
), dead AS MATERIALIZED (
    SELECT awa.dead_between(%(lane)s, e.first_seq, e.last_seq) AS seqs FROM ends e
), known AS MATERIALIZED (
    SELECT max(i.job_id) AS last_id FROM awa.batch_operation_items i WHERE i.operation_id = %(id)s
), listed AS (
    INSERT INTO awa.batch_operation_items (operation_id, job_id, lane_id, lane_seq, slot)
    SELECT %(id)s, p.id, %(lane)s, p.lane_seq, p.slot
      FROM page p, dead d, known k
     WHERE p.matches AND (d.seqs IS NULL OR NOT p.lane_seq <@ d.seqs)
       AND (p.id > k.last_id OR k.last_id IS NULL OR NOT EXISTS (
            SELECT FROM awa.batch_operation_items i WHERE i.operation_id = %(id)s AND i.job_id = p.id OFFSET 0))
     ORDER BY p.id
     LIMIT %(left)s
    RETURNING 1
)
SELECT e.walked, e.last_seq, e.last_txid::text AS last_txid,
       (SELECT max(p.lane_seq) FROM page p WHERE p.txid = e.last_txid) AS last_seq_of_txid,
       (SELECT count(*) FROM listed) AS listed
  FROM ends e
