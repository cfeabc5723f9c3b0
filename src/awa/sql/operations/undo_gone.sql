-- Why jobs that an operation changed don't wait any more: how many run, have ended, or are kept no longer.
-- moves: nothing
-- index: that of {undone} and of awa.explain_not_waiting
-- bound: looked_max jobs; the caller gives it a short time
-- params: looked_max, and those of {undone}
SELECT e.reason, count(*) AS jobs
  FROM (SELECT ARRAY(SELECT j.id FROM ({undone}) j WHERE j.why = 'not_waiting' LIMIT %(looked_max)s) AS ids) k
 CROSS JOIN LATERAL awa.explain_not_waiting(k.ids) e
 WHERE cardinality(k.ids) > 0
 GROUP BY e.reason
