-- Waits until the chunk or the page of a scan that was just committed is on the disk, if another session waits for the disk, too.
-- moves: nothing
-- index: none
-- bound: the sessions of the server
-- params: none
-- The commits of others have to write a chunk's log records along with their own. A message in the log makes this commit wait for all that stands
-- before it; meanwhile nothing is added. The names of these waits are spelled differently by the versions, and another role's aren't shown.
SELECT CASE WHEN EXISTS (SELECT FROM pg_stat_activity a
                          WHERE a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()
                            AND upper(a.wait_event) IN ('WALSYNC', 'WALWRITE', 'WALINITSYNC', 'WALINITWRITE'))
            THEN pg_logical_emit_message(true, 'awa', '') END IS NOT NULL AS gave_way
