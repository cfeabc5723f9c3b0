-- Says whether the time of a callback is over.
-- moves: nothing
-- index: callbacks (expires_at)
-- bound: one row
-- params: now (null: the clock)
-- Asked before each round of time-outs, so that the many looks that find nothing cost no transaction id.
SELECT EXISTS (SELECT FROM awa.callbacks c
                WHERE c.resolved_at IS NULL AND c.expires_at <= coalesce(%(now)s::timestamptz, now())) AS due
