-- How many of the jobs that wait in lanes match; looks at `looked_max` of them.
-- moves: nothing
-- index: that of awa.lane_backlog
-- bound: looked_max rows
-- params: looked_max, and those of the filter: {places} is what of it a lane alone can answer, {rows} the rest, both of alias j
SELECT count(*) FILTER (WHERE {rows}) AS jobs, count(*) AS looked
  FROM (SELECT * FROM awa.lane_backlog j WHERE {places} LIMIT %(looked_max)s) j
