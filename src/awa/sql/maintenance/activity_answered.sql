-- The jobs that callbacks moved on in an interval, by queue and by kind: their ends are no ends of attempts, so no closure tells them.
-- moves: nothing
-- index: callbacks (applied_at)
-- bound: the callbacks of the interval
-- params: since (null: from the beginning), until
WITH answered AS MATERIALIZED (
    SELECT c.queue, c.kind, CASE c.led_to WHEN 'retryable' THEN 'retried' WHEN 'available' THEN 'returned' ELSE c.led_to END AS outcome
      FROM awa.callbacks c
     WHERE c.applied_at IS NOT NULL AND c.led_to IS NOT NULL AND c.applied_at <= %(until)s
       AND c.applied_at > coalesce(%(since)s::timestamptz, '-infinity')
)
SELECT g.current_slot AS slot, k.* FROM awa.ring g CROSS JOIN (
    SELECT a.queue, a.outcome, count(*) AS jobs, NULL::text AS kind, NULL::float8 AS weight FROM answered a GROUP BY a.queue, a.outcome
    UNION ALL
    SELECT a.queue, a.outcome, NULL, a.kind, count(*)::float8 FROM answered a GROUP BY a.queue, a.outcome, a.kind) k
