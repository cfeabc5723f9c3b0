-- Jobs that are still kept as completed, as the maintenance leader has noted them.
-- moves: nothing
-- index: activity_totals primary key
-- bound: the queues or kinds noted, times the slots
-- params: scope (queue or kind), names (null: all)
SELECT t.name, sum(t.jobs)::bigint AS jobs
  FROM awa.activity_totals t
 WHERE t.scope = %(scope)s AND t.outcome IN ('completed', 'recorded') AND (%(names)b::text[] IS NULL OR t.name = ANY (%(names)b::text[]))
 GROUP BY t.name
