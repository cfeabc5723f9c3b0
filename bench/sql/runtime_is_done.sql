-- A runtime that has ended everything it claimed, as its heartbeat would say.
-- params: id
update awa.runtimes set open_since = clock_timestamp() where id = %(id)s
