-- Rows that came into the lane after the scan had begun, by transaction: among them old jobs from other lanes.
-- index: ready_entries (lane_id, txid, lane_seq)
-- params: lane, after_txid, after (position of that transaction), seen (snapshot of the scan's beginning), until, rows
SELECT w.*,
       w.lane_seq >= h.trusted_from AND NOT pg_visible_in_snapshot(w.txid, %(seen)s::text::pg_snapshot)
       AND (w.lane_seq >= h.cursor OR w.lane_seq <@ h.owed OR NOT pg_visible_in_snapshot(w.txid, h.seen)) AS due
  FROM awa.lane_rows w
 WHERE w.lane_id = %(lane)s AND w.txid >= pg_snapshot_xmin(%(seen)s::text::pg_snapshot)
   AND (w.txid, w.lane_seq) > (%(after_txid)s::text::xid8, %(after)s::bigint)
   AND w.txid < pg_snapshot_xmax(%(until)s::text::pg_snapshot)
 ORDER BY w.txid, w.lane_seq
 LIMIT %(rows)s
