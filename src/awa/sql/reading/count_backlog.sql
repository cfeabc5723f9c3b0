-- How many of the available jobs match; looks at `looked_max` of them.
-- moves: nothing
-- index: that of awa.available_backlog_of
-- bound: looked_max rows
-- params: looked_max, lane_queues and lane_priority (null: all), and those of the filter: {rows} is what a row alone can answer, of alias j
SELECT count(*) FILTER (WHERE {rows}) AS jobs, count(*) AS looked
  FROM (SELECT * FROM awa.available_backlog_of(%(lane_queues)b::text[], %(lane_priority)s::smallint) j LIMIT %(looked_max)s) j
