-- Sessions that wait for a lock which another transaction holds. Waiting for a relation to grow is not that.
select count(*) from pg_stat_activity where wait_event_type = 'Lock' and wait_event <> 'extend'
