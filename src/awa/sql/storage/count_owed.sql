-- How many follow-ups are owed, up to a bound.
-- moves: nothing
-- index: owed_follow_ups, from its beginning
-- bound: limit rows
-- params: limit
SELECT count(*) AS owed FROM (SELECT FROM awa.owed_follow_ups LIMIT %(limit)s) o
