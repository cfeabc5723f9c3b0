-- Dead rows in the tables of the ring, counted row by row.
select coalesce(sum((pgstattuple(c.oid)).dead_tuple_count), 0)::bigint
  from pg_class c
  join pg_inherits i on i.inhrelid = c.oid
  join pg_class parent on parent.oid = i.inhparent
 where parent.relnamespace = 'awa'::regnamespace
   and parent.relname in ('ready_entries', 'ready_tombstones', 'lane_claims', 'attempt_closures')
   and c.relkind = 'r'
