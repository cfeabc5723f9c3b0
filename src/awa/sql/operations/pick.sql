-- Takes the next pending items of an operation and locks their jobs, as far as they still wait.
-- moves: nothing; the locks go with the transaction
-- index: batch_operation_items primary key; those of awa.lock_waiting
-- bound: walk items looked at, rows of them taken
-- params: id, after (job id), walk, rows
-- The arrays come as text and go back as text into awa:operations/change, so that the program handles no single row.
-- The chunk's commit doesn't wait for the disk: a chunk that a crash of the server takes back has not happened, as a whole.
-- By key and not by state: the table is new and big, the planner knows nothing of it. Only a later pass meets
-- items that are accounted already, which is why it may walk further than it takes.
WITH walked AS MATERIALIZED (
    SELECT i.job_id, i.lane_id, i.lane_seq, i.slot, i.state
      FROM awa.batch_operation_items i
     WHERE i.operation_id = %(id)s AND i.job_id > %(after)s
     ORDER BY i.job_id
     LIMIT %(walk)s
), taken AS MATERIALIZED (
    SELECT w.* FROM walked w WHERE w.state = 'pending' ORDER BY w.job_id LIMIT %(rows)s
), sets AS MATERIALIZED (
    SELECT count(*) AS rows, max(t.job_id) AS last_id, array_agg(t.job_id) AS ids, array_agg(t.lane_id) AS lanes,
           array_agg(t.lane_seq) AS seqs, array_agg(t.slot) AS slots
      FROM taken t
)
SELECT s.rows AS taken,
       CASE WHEN s.rows = %(rows)s THEN s.last_id ELSE (SELECT max(w.job_id) FROM walked w) END AS upto,
       (SELECT count(*) FROM walked) = %(walk)s OR s.rows = %(rows)s AS more,
       k.ids::text, k.lanes::text, k.seqs::text, k.slots::text, k.rest::text, k.rest[1] AS rest_first
  FROM (SELECT set_config('synchronous_commit', 'off', true) OFFSET 0) unhurried
 CROSS JOIN sets s
 CROSS JOIN LATERAL awa.lock_waiting_set(coalesce(s.ids, '{}'), s.lanes, s.seqs, s.slots) k
