-- Brings everything from the schema that was set aside into the new one: tables of the same name row by row, jobs that wait in lanes to
-- the same positions of theirs, and completed jobs to those that have a row of their own.
-- moves: nothing changes its state
-- index: none; every table is read whole
-- bound: the whole store, once
DO $$
DECLARE
    t record;
BEGIN
    FOR t IN
        SELECT n.relname AS name,
               string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns,
               -- Types of the old schema are other types than those of the new one, with the same words.
               string_agg(CASE WHEN y.typnamespace = 'awa'::regnamespace
                               THEN format('%I::text::awa.%I', a.attname, y.typname) ELSE quote_ident(a.attname) END,
                          ', ' ORDER BY a.attnum) AS values
          FROM pg_class n
          JOIN pg_class o ON o.relname = n.relname AND o.relnamespace = 'awa_canonical'::regnamespace AND o.relkind = 'r'
          JOIN pg_attribute a ON a.attrelid = n.oid AND a.attnum > 0 AND NOT a.attisdropped
          JOIN pg_attribute b ON b.attrelid = o.oid AND b.attname = a.attname AND NOT b.attisdropped
          JOIN pg_type y ON y.oid = a.atttypid
         WHERE n.relnamespace = 'awa'::regnamespace AND n.relkind = 'r' AND n.relname NOT IN ('ring', 'schema_migrations', 'schema_objects', 'activity_state',
                                                                       'plan_secret')
         GROUP BY n.oid, n.relname
         ORDER BY EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = n.oid AND c.contype = 'f')  -- what they refer to first
    LOOP
        EXECUTE format('INSERT INTO awa.%1$I (%2$s) OVERRIDING SYSTEM VALUE SELECT %3$s FROM awa_canonical.%1$I',
                       t.name, t.columns, t.values);
    END LOOP;
    FOR t IN
        SELECT n.oid::regclass AS new, o.oid::regclass AS old
          FROM pg_class n JOIN pg_class o ON o.relname = n.relname AND o.relnamespace = 'awa_canonical'::regnamespace
         WHERE n.relnamespace = 'awa'::regnamespace AND n.relkind = 'S'
    LOOP
        EXECUTE format('SELECT setval(%L, s.last_value, s.is_called) FROM %s s', t.new, t.old);
    END LOOP;
END $$;
INSERT INTO awa.ready_entries
       (lane_seq, job_id, txid, ready_at, created_at, run_at, lane_id, slot, attempt, max_attempts, route_shard, kind, args, tags,
        metadata, errors, unique_key, route_key, concurrency_key, concurrency_limit)
SELECT r.lane_seq, r.job_id, pg_current_xact_id(), r.ready_at, r.created_at, r.run_at, r.lane_id, g.current_slot, r.attempt,
       r.max_attempts, r.route_shard, r.kind, r.args, r.tags, r.metadata, r.errors, r.unique_key, r.route_key, r.concurrency_key,
       r.concurrency_limit
  FROM awa_canonical.ready_entries r CROSS JOIN awa.ring g
 WHERE r.claim_id IS NULL;
INSERT INTO awa.finished_jobs
       (job_id, created_at, run_at, attempted_at, finalized_at, priority, attempt, max_attempts, route_shard, state, queue, kind, args,
        tags, metadata, errors, unique_key, route_key, concurrency_key, concurrency_limit)
SELECT r.job_id, r.created_at, r.run_at, r.attempted_at, r.closed_at, l.priority, r.attempt + 1, r.max_attempts, r.route_shard,
       'completed', l.queue, r.kind, r.args, r.tags, r.metadata, r.errors, r.unique_key, r.route_key, r.concurrency_key,
       r.concurrency_limit
  FROM awa_canonical.ready_entries r JOIN awa_canonical.lanes l ON l.lane_id = r.lane_id
 WHERE r.closed_at IS NOT NULL
