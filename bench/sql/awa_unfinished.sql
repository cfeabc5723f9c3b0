-- Attempts that were claimed and aren't closed yet.
-- Called after the handlers have run, so what was never claimed shows in the runner's own count.
select coalesce((select sum(jobs) from awa.lane_claims), 0) - coalesce((select sum(jobs) from awa.attempt_closures), 0)
       as unfinished
