-- What plan tokens are signed with, and the time by the clock that they are made and expire by.
-- moves: nothing
-- index: plan_secret primary key
-- bound: one row
SELECT secret, clock_timestamp() AS now FROM awa.plan_secret
