-- How old the newest note is, and how much time the notes of the last minute speak of.
-- moves: nothing
-- index: activity primary key (scope, at, name)
-- bound: the notes of so many seconds
-- params: since_s
SELECT (SELECT extract(epoch FROM clock_timestamp() - s.until)::float8 FROM awa.activity_state s) AS age_s,
       (SELECT sum(a.seconds)::float8 FROM awa.activity a
         WHERE a.scope = 'all' AND a.at > clock_timestamp() - make_interval(secs => %(since_s)s)) AS seconds
