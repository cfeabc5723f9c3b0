-- The next lane that a scan has to walk.
-- moves: nothing
-- index: lanes primary key
-- bound: the lanes
-- params: after (lane id), queues and priority (null: any)
SELECT lane_id
  FROM awa.lanes
 WHERE lane_id > %(after)s
   AND (%(queues)s::text[] IS NULL OR queue = ANY (%(queues)s::text[]))
   AND (%(priority)s::smallint IS NULL OR priority = %(priority)s::smallint)
 ORDER BY lane_id
 LIMIT 1
