-- The owed ranges below the lane's cursor, by position.
-- index: ready_entries (lane_id, lane_seq)
-- params: lane, after (position), upto (position), rows
SELECT w.*, true AS due
  FROM unnest(h.owed) WITH ORDINALITY g(span, n)
 CROSS JOIN LATERAL (
       SELECT k.* FROM awa.lane_rows k
        WHERE k.lane_id = %(lane)s AND k.lane_seq >= greatest(lower(g.span), %(after)s::bigint + 1)
          AND k.lane_seq < upper(g.span) AND k.lane_seq <= %(upto)s
        ORDER BY k.lane_seq LIMIT %(rows)s) w
 WHERE upper(g.span) > %(after)s
 ORDER BY g.n, w.lane_seq
 LIMIT %(rows)s
