-- Do more jobs wait in the lanes than so many?
-- moves: nothing
-- index: that of awa.waiting_jobs
-- bound: jobs + 1
-- params: jobs
SELECT count(*) > %(jobs)s AS exceeds
  FROM (SELECT FROM awa.waiting_jobs w WHERE w.lane_id IS NOT NULL LIMIT %(jobs)s + 1) k
