-- What is unique about a job, and who holds its key; no row for a job that isn't unique.
-- moves: nothing
-- index: see functions/108_unique_of.sql
-- bound: one job
-- params: id, queue, state
SELECT states, by_queue, by_args, by_some_args, by_period, by_key, wanted, holder
  FROM awa.unique_of(%(id)s::bigint, %(queue)s::text, %(state)s::text)
