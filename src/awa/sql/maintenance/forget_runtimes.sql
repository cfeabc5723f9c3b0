-- Forgets runtimes that ended long ago and own no open attempt.
-- moves: deletes rows of awa.runtimes
-- index: seq scan of runtimes, a table of tens to thousands of rows; awa.open_attempts for those that are old enough
-- bound: limit rows
-- params: keep_s, limit, now (null: the clock)
-- The rescue finds attempts through the runtime's row: while one is open, the row stays.
DELETE FROM awa.runtimes r
 USING (SELECT o.id
          FROM (SELECT k.id, k.open_since FROM awa.runtimes k
                 WHERE k.state <> 'alive'
                   AND k.ended_at < coalesce(%(now)s::timestamptz, now()) - make_interval(secs => %(keep_s)s)
                 ORDER BY k.ended_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED) o
         WHERE NOT EXISTS (SELECT FROM awa.open_attempts(o.id, o.open_since - interval '1 second'))) old
 WHERE r.id = old.id
