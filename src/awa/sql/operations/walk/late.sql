-- Rows below the lane's cursor whose transactions ended after it had passed, by transaction.
-- index: ready_entries (lane_id, txid, lane_seq)
-- params: lane, after_txid, after (position of that transaction), until (snapshot), rows
SELECT w.*, w.lane_seq < h.cursor AND w.lane_seq >= h.trusted_from AND NOT pg_visible_in_snapshot(w.txid, h.seen) AS due
  FROM awa.lane_rows w
 WHERE w.lane_id = %(lane)s AND w.txid >= pg_snapshot_xmin(h.seen)
   AND (w.txid, w.lane_seq) > (%(after_txid)s::text::xid8, %(after)s::bigint)
   AND w.txid < pg_snapshot_xmax(%(until)s::text::pg_snapshot)
 ORDER BY w.txid, w.lane_seq
 LIMIT %(rows)s
