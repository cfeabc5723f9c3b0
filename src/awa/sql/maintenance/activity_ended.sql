-- The attempts of one slot that ended in an interval: how many by queue and outcome, and a sample of the jobs with their run times.
-- moves: nothing
-- index: see functions/*/730_activity.sql
-- bound: what ended behind from_tid; closures_max ends and jobs_max jobs each are looked at
-- params: slot, from_tid, since (null: from the beginning), until, closures_max, jobs_max
SELECT * FROM awa.activity_ended(%(slot)s, %(from_tid)s::tid, %(since)s, %(until)s, %(closures_max)s, %(jobs_max)s)
