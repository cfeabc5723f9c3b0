-- Forgets runtimes that ended long ago and are settled: nothing of them is open or can appear any more.
-- moves: deletes rows of awa.runtimes
-- index: seq scan of runtimes, a table of tens to thousands of rows
-- bound: limit rows
-- params: keep_s, limit, now (null: the clock)
-- The rescue finds attempts through the runtime's row, so a row that it hasn't settled stays.
DELETE FROM awa.runtimes r
 USING (SELECT k.id FROM awa.runtimes k
         WHERE k.state <> 'alive' AND k.settled
           AND k.ended_at < coalesce(%(now)s::timestamptz, now()) - make_interval(secs => %(keep_s)s)
         ORDER BY k.ended_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED) old
 WHERE r.id = old.id
