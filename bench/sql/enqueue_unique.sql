-- Unique jobs, each with an argument of its own, through the engine's own function.
-- params: queue, first (the number of the first), jobs, opts (the unique options, or null: not unique)
select count(*)
  from (select array_agg(format('{"n": %%s}', n)) as args from generate_series(%(first)s::int, %(first)s::int + %(jobs)s::int - 1) n) k
 cross join lateral awa.enqueue_unique_many(
           %(queue)s, array_fill('noop'::text, array[%(jobs)s::int]), k.args, array_fill(2::smallint, array[%(jobs)s::int]), null,
           array_fill(25::smallint, array[%(jobs)s::int]), null, null, null, array_fill(%(opts)s::jsonb, array[%(jobs)s::int])) e
