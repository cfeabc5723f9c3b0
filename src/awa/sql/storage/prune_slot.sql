-- Goes a step towards giving the space of a slot back, if everything in it is over.
-- moves: completed jobs end here
-- index: see functions/lanes/610_prune.sql
-- bound: one slot
-- params: slot, keep_s, carry_limit, now (null: the database's clock)
SELECT awa.prune_slot(%(slot)s, %(keep_s)s, %(carry_limit)s, %(now)s::timestamptz) AS result
