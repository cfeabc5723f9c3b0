-- Jobs with the small argument, through the engine's own function, without their way through a client.
-- params: queue, jobs
select count(*)
  from awa.enqueue_many(%(queue)s, array_fill('noop'::text, array[%(jobs)s::int]),
                        array_fill('{"n": 1}'::text, array[%(jobs)s::int]),
                        array_fill(2::smallint, array[%(jobs)s::int]), null,
                        array_fill(25::smallint, array[%(jobs)s::int]), null, null, null)
