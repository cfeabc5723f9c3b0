-- The same jobs as in enqueue_unique, not unique.
-- params: queue, first, jobs
select count(*)
  from (select array_agg(format('{"n": %%s}', n)) as args from generate_series(%(first)s::int, %(first)s::int + %(jobs)s::int - 1) n) k
 cross join lateral awa.enqueue_many(
           %(queue)s, array_fill('noop'::text, array[%(jobs)s::int]), k.args, array_fill(2::smallint, array[%(jobs)s::int]), null,
           array_fill(25::smallint, array[%(jobs)s::int]), null, null, null) e
