-- From the lane's cursor on, by position, up to the last position that was handed out when the scan began.
-- index: ready_entries (lane_id, lane_seq)
-- params: lane, after (position), upto (position), rows
SELECT w.*, true AS due
  FROM awa.lane_rows w
 WHERE w.lane_id = %(lane)s AND w.lane_seq >= greatest(h.first_waiting, %(after)s::bigint + 1) AND w.lane_seq <= %(upto)s
 ORDER BY w.lane_seq
 LIMIT %(rows)s
