-- One runtime, in short.
-- moves: nothing
-- index: runtimes primary key
-- bound: one row
-- params: id
SELECT t.id, t.host, t.pid, t.state FROM awa.runtimes t WHERE t.id = %(id)s
