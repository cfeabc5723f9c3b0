-- How far the operations of this database have come.
select coalesce(sum(processed), 0)::bigint from awa.batch_operations
