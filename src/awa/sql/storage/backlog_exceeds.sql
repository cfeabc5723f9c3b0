-- Do more jobs wait in the lanes than so many? {places} is what of a compiled filter (alias j) a lane alone can answer.
-- moves: nothing
-- index: that of awa.lane_backlog
-- bound: jobs + 1
-- params: jobs, and those of the filter
SELECT count(*) > %(jobs)s AS exceeds FROM (SELECT FROM awa.lane_backlog j WHERE {places} LIMIT %(jobs)s + 1) k
