-- One job with the small argument.
-- params: queue
select awa.enqueue('noop', '{"n": 1}', %(queue)s)
