-- Opens the next ring slot when it is time.
-- moves: nothing
-- index: see functions/lanes/600_rotate.sql
-- bound: one row
-- params: max_age_s, max_bytes, now (null: the database's clock)
SELECT awa.rotate(%(max_age_s)s, %(max_bytes)s, %(now)s::timestamptz) AS result
