-- Raises lanes whose jobs wait long.
-- moves: nothing
-- index: see functions/520_age_lanes.sql
-- bound: the lanes
-- params: step_s (null: no ageing), now (null: the database's clock)
SELECT awa.age_lanes(%(step_s)s::float8, %(now)s::timestamptz) AS changed
