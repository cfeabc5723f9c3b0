-- The jobs that were claimed in an interval: how many by queue, and a sample of them with how long they had waited.
-- moves: nothing
-- index: see functions/*/730_activity.sql
-- bound: the claims of the interval; claims_max of them and jobs_max jobs each are looked at
-- params: since, until, claims_max, jobs_max
SELECT * FROM awa.activity_started(%(since)s, %(until)s, %(claims_max)s, %(jobs_max)s)
