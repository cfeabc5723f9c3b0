-- Where the notes of activity stand and where they will stand after this, and takes their row.
-- moves: nothing
-- index: one row; asks for the length of a table a slot
-- bound: the slots
-- params: lag_s (what ended this shortly ago may not be committed yet), now (null: the database's clock)
SELECT s.until AS since, s.last_position, s.blocks, coalesce(%(now)s::timestamptz, clock_timestamp()) - make_interval(secs => %(lag_s)s) AS until,
       (SELECT CASE WHEN p.is_called THEN p.last_value ELSE 0 END FROM awa.job_positions p) AS position,
       awa.closure_lengths() AS lengths
  FROM awa.activity_state s WHERE s.one FOR UPDATE
