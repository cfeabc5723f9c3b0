-- Adds a set of jobs that differ in their arguments alone; one row.
-- moves: nothing -> available | scheduled
-- index: see functions/102_enqueue_alike.sql
-- bound: the caller's chunk
-- params: as awa.enqueue; args is a binary array of JSON texts; wake is 'later' where the caller wakes a
--         sleeping worker by storage/wake after the commit, else ''; it is
--         set before the function is called, which is why the queue seems to depend on it
SELECT e.*, current_setting('awa.wake') = 'wanted' AS wake_wanted
  FROM (SELECT set_config('awa.wake', %(wake)s, true) AS wake OFFSET 0) t
 CROSS JOIN LATERAL awa.enqueue_alike(CASE WHEN t.wake IS NOT NULL THEN %(queue)s END, %(kind)s, %(args)b::text[], %(priority)s,
                                      %(run_at)s::timestamptz, %(max_attempts)s, %(tags)s::text[], %(metadata)s::jsonb,
                                      %(ordering_key)s::text) e
