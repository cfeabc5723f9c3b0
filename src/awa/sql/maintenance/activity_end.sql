-- Says how far the notes of activity have come, and forgets the old ones.
-- moves: nothing
-- index: one row; activity (at)
-- bound: the notes that became old since the last time
-- params: until, last_position, blocks, keep_s
WITH old AS (
    DELETE FROM awa.activity a WHERE a.at < %(until)s::timestamptz - make_interval(secs => %(keep_s)s)
)
UPDATE awa.activity_state s SET until = %(until)s, last_position = %(last_position)s, blocks = %(blocks)s WHERE s.one
