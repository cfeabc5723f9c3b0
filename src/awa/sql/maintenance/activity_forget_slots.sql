-- Forgets the totals of slots that have been emptied.
-- moves: nothing
-- index: activity_totals primary key
-- bound: the queues, kinds and outcomes of the slots
-- params: slots
DELETE FROM awa.activity_totals t WHERE t.slot = ANY (%(slots)s::smallint[])
