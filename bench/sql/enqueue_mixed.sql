-- Jobs as a house has them: four kinds a queue, all priorities, a tag of one of a thousand customers, a secret among the arguments.
-- params: queue, number (of the queue), jobs
select count(*)
  from (select array_agg(format('kind_%%s', lpad((%(number)s * 4 + n %% 4)::text, 2, '0')) order by n) as kinds,
               array_agg(format('{"to": "user%%s@example.com", "amount": %%s, "api_key": "sk-%%s", "lines": [1, 2, 3]}', n, n, n) order by n) as args,
               array_agg((array[2, 2, 2, 1, 2, 3, 2, 4])[1 + n %% 8]::smallint order by n) as priorities,
               array_agg(to_jsonb(array['customer:' || (n * 7919) %% 1000]) order by n) as tags
          from generate_series(1, %(jobs)s) n) k
 cross join lateral awa.enqueue_many(%(queue)s, k.kinds, k.args, k.priorities, null, array_fill(25::smallint, array[%(jobs)s::int]),
                                     k.tags, null, null) e
