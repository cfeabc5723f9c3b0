-- Changes the locked jobs of a chunk that still match, and accounts every item of the chunk, all in one statement.
-- moves: what the kind moves; items pending -> processed | skipped | errored
-- index: ready_entries (lane_id, lane_seq), deferred_jobs and batch_operation_items primary keys
-- bound: the chunk
-- params: id, after and upto (job ids between which the chunk lies), ids, lanes, seqs, slots (what is locked, null
--         positions: deferred) and rest (what could not be locked), each an array as text; cursor, runner, taken (how many were), those of the kind and of the filter
-- An item keeps what its job had before, and where it was left: what an undo needs.
-- A statement of its own, after the locks: the filter is checked on what the rows hold now. Counters come from the
-- item rows that this statement changed, so an item is counted once however often a chunk is tried.
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(%(ids)s::bigint[], %(lanes)s::int[], %(seqs)s::bigint[], %(slots)s::smallint[])
                  g(job_id, lane_id, lane_seq, slot)
), matching AS MATERIALIZED (
    SELECT j.id, j.lane_id, j.lane_seq, j.slot
      FROM ({rows}) j
     WHERE {filter}
), chosen AS MATERIALIZED (
    SELECT array_agg(m.id) AS ids, array_agg(m.lane_id) AS lanes, array_agg(m.lane_seq) AS seqs, array_agg(m.slot) AS slots
      FROM matching m
), changed AS MATERIALIZED (
    {apply}
), outcomes AS MATERIALIZED (
    SELECT c.job_id, c.state, c.reason, c.error, c.before, c.lane_id, c.lane_seq, c.slot, c.attempt FROM changed c
    UNION ALL
    SELECT g.job_id, 'skipped', 'filter_drift', NULL, NULL, NULL, NULL, NULL, NULL
      FROM given g WHERE g.job_id NOT IN (SELECT m.id FROM matching m)
    UNION ALL
    SELECT e.job_id, 'skipped', e.reason, NULL, NULL, NULL, NULL, NULL, NULL
      FROM (SELECT %(rest)s::bigint[] AS ids) r
     CROSS JOIN LATERAL awa.explain_not_waiting(r.ids) e
     WHERE cardinality(r.ids) > 0 AND e.reason <> 'locked'
), noted AS (
    UPDATE awa.batch_operation_items i
       SET state = o.state, reason = o.reason, error = o.error, before = o.before, processed_at = clock_timestamp(),
           lane_id = o.lane_id, lane_seq = o.lane_seq, slot = o.slot, attempt = o.attempt
      FROM outcomes o
     WHERE i.operation_id = %(id)s AND i.job_id > %(after)s AND i.job_id <= %(upto)s
       AND i.job_id = o.job_id AND i.state = 'pending'
    RETURNING i.job_id, i.state, i.reason, i.error
), sums AS MATERIALIZED (
    SELECT n.state, coalesce(n.reason, 'changed') AS reason, count(*) AS items,
           max(n.job_id) FILTER (WHERE n.state = 'errored') AS errored_id
      FROM noted n GROUP BY 1, 2
), totals AS (
    INSERT INTO awa.batch_operation_totals AS t (operation_id, outcome, reason, items)
    SELECT %(id)s, s.state, s.reason, s.items FROM sums s
    ON CONFLICT (operation_id, outcome, reason) DO UPDATE SET items = t.items + excluded.items
), counted AS (
    SELECT coalesce(sum(items) FILTER (WHERE state = 'processed'), 0)::bigint AS processed,
           coalesce(sum(items) FILTER (WHERE state = 'skipped'), 0)::bigint AS skipped,
           coalesce(sum(items) FILTER (WHERE state = 'errored'), 0)::bigint AS errored,
           jsonb_agg(jsonb_build_array(state, reason, items)) AS by_reason
      FROM sums
)
UPDATE awa.batch_operations b
   SET processed = b.processed + c.processed,
       skipped = b.skipped + c.skipped,
       errored = b.errored + c.errored,
       last_error = coalesce((SELECT format('job %%s: %%s', s.errored_id, s.reason) FROM sums s
                               WHERE s.errored_id IS NOT NULL ORDER BY s.errored_id DESC LIMIT 1), b.last_error),
       cursor = %(cursor)s,
       runner_instance = %(runner)s,
       chunks = awa.note_chunk(b.chunks,
                               (100 * extract(epoch FROM clock_timestamp() - coalesce(b.started_at, b.submitted_at)))::bigint,
                               c.processed + c.skipped + c.errored,
                               -- The whole transaction so far, its locks included; only the commit is missing.
                               (1000 * extract(epoch FROM clock_timestamp() - transaction_timestamp()))::bigint),
       wait_until = c.at + make_interval(secs => %(pause_s)s::float8),
       -- From the chunk's beginning, so that its own time counts; the rate is that of now, the row is held.
       paced_until = transaction_timestamp() + make_interval(secs => %(taken)s::float8 / b.max_rows_per_second),
       updated_at = c.at
  FROM (SELECT n.*, clock_timestamp() AS at FROM counted n OFFSET 0) c
 WHERE b.id = %(id)s
RETURNING b.*, c.by_reason
