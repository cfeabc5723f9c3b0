SELECT pg_catalog.set_config('search_path', '', false);
CREATE SCHEMA awa;
CREATE TYPE awa.attempt_outcome AS ENUM (
    'completed',
    'recorded',
    'retried',
    'failed',
    'cancelled',
    'snoozed',
    'returned',
    'waiting'
);
CREATE TYPE awa.claimed_job AS (
	job_id bigint,
	lane_id integer,
	claim_no bigint,
	lane_seq bigint,
	queue text,
	priority smallint,
	kind text,
	args json,
	attempt smallint,
	max_attempts smallint,
	tags text[],
	metadata jsonb,
	errors jsonb,
	run_at timestamp with time zone,
	created_at timestamp with time zone,
	ready_at timestamp with time zone,
	claimed_at timestamp with time zone,
	deadline_at timestamp with time zone
);
CREATE TABLE awa.callbacks (
    callback_id uuid DEFAULT gen_random_uuid() NOT NULL,
    job_id bigint NOT NULL,
    lane_seq bigint NOT NULL,
    claim_no bigint NOT NULL,
    lane_id integer NOT NULL,
    attempt smallint NOT NULL,
    queue text NOT NULL,
    kind text NOT NULL,
    attempted_at timestamp with time zone NOT NULL,
    registered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    timeout_s double precision NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    waiting_since timestamp with time zone,
    resolution text,
    payload jsonb,
    error jsonb,
    resolved_at timestamp with time zone,
    resolved_by text,
    applied_at timestamp with time zone,
    led_to text,
    if_completed jsonb,
    if_failed jsonb,
    CONSTRAINT callbacks_check CHECK (((resolution IS NULL) = (resolved_at IS NULL))),
    CONSTRAINT callbacks_resolution_check CHECK ((resolution = ANY (ARRAY['complete'::text, 'fail'::text, 'retry'::text, 'resume'::text, 'time_out'::text, 'abandoned'::text]))),
    CONSTRAINT callbacks_timeout_s_check CHECK ((timeout_s > (0)::double precision))
)
WITH (fillfactor='70');
CREATE TABLE awa.cron_jobs (
    name text NOT NULL,
    app text NOT NULL,
    cron_expr text NOT NULL,
    timezone text NOT NULL,
    missed text NOT NULL,
    kind text NOT NULL,
    queue text NOT NULL,
    priority smallint NOT NULL,
    max_attempts smallint NOT NULL,
    args json NOT NULL,
    tags text[],
    metadata jsonb,
    ordering_key text,
    next_fire_at timestamp with time zone,
    last_tick_at timestamp with time zone,
    fired_at timestamp with time zone,
    fired_count bigint DEFAULT 0 NOT NULL,
    last_job_id bigint,
    last_error text,
    paused_at timestamp with time zone,
    paused_by text,
    retired_at timestamp with time zone,
    declared_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    concurrency_key text,
    concurrency_limit smallint,
    unique_opts jsonb,
    skipped_count bigint DEFAULT 0 NOT NULL,
    CONSTRAINT cron_jobs_missed_check CHECK ((missed = ANY (ARRAY['coalesce'::text, 'catch_up'::text]))),
    CONSTRAINT cron_jobs_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT cron_jobs_priority_check CHECK (((priority >= 1) AND (priority <= 4)))
);
CREATE TABLE awa.attempt_closures (
    claim_no bigint NOT NULL,
    closed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    lane_id integer NOT NULL,
    jobs integer NOT NULL,
    slot smallint NOT NULL,
    outcome awa.attempt_outcome NOT NULL,
    seqs int8multirange NOT NULL
)
PARTITION BY LIST (slot);
CREATE TABLE awa.attempts (
    lane_seq bigint NOT NULL,
    claim_no bigint NOT NULL,
    job_id bigint NOT NULL,
    runtime_id uuid NOT NULL,
    lane_id integer NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    progress jsonb,
    metadata jsonb,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE TABLE awa.deferred_jobs (
    job_id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    run_at timestamp with time zone NOT NULL,
    deferred_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    priority smallint NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    max_attempts smallint DEFAULT 25 NOT NULL,
    route_shard smallint,
    state text NOT NULL,
    queue text NOT NULL,
    kind text NOT NULL,
    args json NOT NULL,
    tags text[],
    metadata jsonb,
    errors jsonb,
    unique_key bytea,
    route_key bytea,
    callback_id uuid,
    concurrency_key text,
    concurrency_limit smallint,
    CONSTRAINT deferred_jobs_callback_check CHECK (((state = 'waiting_external'::text) = (callback_id IS NOT NULL))),
    CONSTRAINT deferred_jobs_concurrency_check CHECK (((concurrency_key IS NULL) = (concurrency_limit IS NULL))),
    CONSTRAINT deferred_jobs_parked_check CHECK (((state <> 'available'::text) OR (concurrency_key IS NOT NULL))),
    CONSTRAINT deferred_jobs_priority_check CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT deferred_jobs_queue_check CHECK (((length(queue) >= 1) AND (length(queue) <= 200))),
    CONSTRAINT deferred_jobs_state_check CHECK ((state = ANY (ARRAY['scheduled'::text, 'retryable'::text, 'waiting_external'::text, 'available'::text])))
);
CREATE VIEW awa.deferred_places AS
 SELECT job_id AS id,
    kind,
    queue,
    state,
    priority,
    attempt,
    max_attempts,
    args,
    COALESCE(tags, '{}'::text[]) AS tags,
    COALESCE((metadata - '_awa_progress'::text), '{}'::jsonb) AS metadata,
    COALESCE(errors, '[]'::jsonb) AS errors,
    run_at,
    created_at,
    deferred_at AS ready_at,
    NULL::timestamp with time zone AS attempted_at,
    NULL::timestamp with time zone AS finalized_at,
    NULL::timestamp with time zone AS deadline_at,
    NULL::uuid AS runtime_id,
    (COALESCE((route_shard)::integer, 0))::smallint AS enqueue_shard,
    (metadata -> '_awa_progress'::text) AS progress
   FROM awa.deferred_jobs d;
CREATE TABLE awa.finished_jobs (
    job_id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    run_at timestamp with time zone,
    attempted_at timestamp with time zone,
    finalized_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    priority smallint NOT NULL,
    attempt smallint NOT NULL,
    max_attempts smallint NOT NULL,
    route_shard smallint,
    state text NOT NULL,
    queue text NOT NULL,
    kind text NOT NULL,
    args json NOT NULL,
    tags text[],
    metadata jsonb,
    errors jsonb,
    unique_key bytea,
    route_key bytea,
    concurrency_key text,
    concurrency_limit smallint,
    CONSTRAINT finished_jobs_state_check CHECK ((state = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])))
);
CREATE VIEW awa.finished_places AS
 SELECT job_id AS id,
    kind,
    queue,
    state,
    priority,
    attempt,
    max_attempts,
    args,
    COALESCE(tags, '{}'::text[]) AS tags,
    COALESCE((metadata - '_awa_progress'::text), '{}'::jsonb) AS metadata,
    COALESCE(errors, '[]'::jsonb) AS errors,
    COALESCE(run_at, created_at) AS run_at,
    created_at,
    created_at AS ready_at,
    attempted_at,
    finalized_at,
    NULL::timestamp with time zone AS deadline_at,
    NULL::uuid AS runtime_id,
    (COALESCE((route_shard)::integer, 0))::smallint AS enqueue_shard,
    (metadata -> '_awa_progress'::text) AS progress
   FROM awa.finished_jobs f;
CREATE TABLE awa.lane_claims (
    claim_no bigint NOT NULL,
    cursor bigint NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    deadline_at timestamp with time zone,
    runtime_id uuid,
    lane_id integer NOT NULL,
    jobs integer NOT NULL,
    slot smallint NOT NULL,
    seqs int8multirange NOT NULL,
    seen pg_snapshot NOT NULL,
    owed int8multirange NOT NULL,
    keyed int8multirange,
    total bigint DEFAULT 0 NOT NULL
)
PARTITION BY LIST (slot);
CREATE TABLE awa.lanes (
    lane_id integer NOT NULL,
    queue text NOT NULL,
    priority smallint NOT NULL,
    enqueue_shard smallint DEFAULT 0 NOT NULL,
    copy smallint DEFAULT 0 NOT NULL,
    effective_priority smallint NOT NULL,
    CONSTRAINT lanes_effective_priority_check CHECK (((effective_priority >= 1) AND (effective_priority <= 4))),
    CONSTRAINT lanes_priority_check CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT lanes_queue_check CHECK (((length(queue) >= 1) AND (length(queue) <= 200)))
);
CREATE TABLE awa.ready_tombstones (
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    lane_id integer NOT NULL,
    slot smallint NOT NULL,
    reason text NOT NULL,
    CONSTRAINT ready_tombstones_check CHECK ((last_seq >= first_seq))
)
PARTITION BY LIST (slot);
CREATE VIEW awa.lane_heads AS
 SELECT l.lane_id,
    l.queue,
    l.priority,
    l.enqueue_shard,
    l.effective_priority,
    COALESCE(h.claim_no, (0)::bigint) AS claim_no,
    COALESCE(h.cursor, (0)::bigint) AS cursor,
    h.seen,
    COALESCE(h.owed, '{}'::int8multirange) AS owed,
    h.claimed_at,
    h.slot,
    COALESCE(( SELECT t.last_seq
           FROM awa.ready_tombstones t
          WHERE (t.lane_id = l.lane_id)
          ORDER BY t.first_seq DESC
         LIMIT 1), ('-1'::integer)::bigint) AS last_dead,
    COALESCE(h.total, (0)::bigint) AS total,
    COALESCE(h.cursor, (0)::bigint) AS first_waiting
   FROM (awa.lanes l
     LEFT JOIN LATERAL ( SELECT c.claim_no,
            c.cursor,
            c.claimed_at,
            c.deadline_at,
            c.runtime_id,
            c.lane_id,
            c.jobs,
            c.slot,
            c.seqs,
            c.seen,
            c.owed,
            c.keyed,
            c.total
           FROM awa.lane_claims c
          WHERE (c.lane_id = l.lane_id)
          ORDER BY c.claim_no DESC
         LIMIT 1) h ON (true));
CREATE TABLE awa.ready_entries (
    lane_seq bigint NOT NULL,
    job_id bigint NOT NULL,
    txid xid8 NOT NULL,
    ready_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    run_at timestamp with time zone,
    lane_id integer NOT NULL,
    slot smallint NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    max_attempts smallint DEFAULT 25 NOT NULL,
    route_shard smallint,
    kind text NOT NULL,
    args json NOT NULL,
    tags text[],
    metadata jsonb,
    errors jsonb,
    unique_key bytea,
    route_key bytea,
    concurrency_key text,
    concurrency_limit smallint
)
PARTITION BY LIST (slot);
CREATE TABLE awa.ring (
    one boolean DEFAULT true NOT NULL,
    current_slot smallint DEFAULT 0 NOT NULL,
    slots smallint DEFAULT 8 NOT NULL,
    opened_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    trusted_from bigint DEFAULT 0 NOT NULL,
    system_identifier bigint NOT NULL,
    last_txid xid8 NOT NULL,
    CONSTRAINT ring_one_check CHECK (one)
);
CREATE VIEW awa.lane_places AS
 SELECT r.job_id AS id,
    r.kind,
    h.queue,
        CASE
            WHEN (c.claim_no IS NULL) THEN 'available'::text
            WHEN (x.outcome IS NULL) THEN 'running'::text
            ELSE 'completed'::text
        END AS state,
    h.priority,
    ((r.attempt + ((c.claim_no IS NOT NULL))::integer))::smallint AS attempt,
    r.max_attempts,
    r.args,
    COALESCE(r.tags, '{}'::text[]) AS tags,
    (COALESCE((r.metadata - '_awa_progress'::text), '{}'::jsonb) ||
        CASE
            WHEN ((c.claim_no IS NOT NULL) AND (x.outcome IS NULL)) THEN COALESCE(( SELECT a.metadata
               FROM awa.attempts a
              WHERE (a.lane_seq = r.lane_seq)), '{}'::jsonb)
            ELSE '{}'::jsonb
        END) AS metadata,
    COALESCE(r.errors, '[]'::jsonb) AS errors,
    COALESCE(r.run_at, r.created_at) AS run_at,
    r.created_at,
    r.ready_at,
    c.claimed_at AS attempted_at,
    x.closed_at AS finalized_at,
    c.deadline_at,
    c.runtime_id,
    h.enqueue_shard,
        CASE
            WHEN (x.outcome IS NULL) THEN COALESCE(( SELECT a.progress
               FROM awa.attempts a
              WHERE (a.lane_seq = r.lane_seq)), (r.metadata -> '_awa_progress'::text))
            ELSE NULL::jsonb
        END AS progress
   FROM ((((awa.ready_entries r
     JOIN awa.lane_heads h ON ((h.lane_id = r.lane_id)))
     CROSS JOIN awa.ring g)
     LEFT JOIN LATERAL ( SELECT k.claim_no,
            k.claimed_at,
            k.deadline_at,
            k.runtime_id
           FROM awa.lane_claims k
          WHERE ((k.slot = r.slot) AND (k.lane_id = r.lane_id) AND (k.jobs > 0) AND (k.seqs @> r.lane_seq) AND (NOT ((r.lane_seq >= h.cursor) OR (r.lane_seq <@ h.owed) OR ((r.lane_seq >= g.trusted_from) AND (NOT pg_visible_in_snapshot(r.txid, h.seen))))))
         LIMIT 1) c ON (true))
     LEFT JOIN LATERAL ( SELECT k.outcome,
            k.closed_at
           FROM awa.attempt_closures k
          WHERE ((k.slot = r.slot) AND (k.lane_id = r.lane_id) AND (k.claim_no = c.claim_no) AND (k.seqs @> r.lane_seq))
         LIMIT 1) x ON (true))
  WHERE ((COALESCE(x.outcome, 'completed'::awa.attempt_outcome) = 'completed'::awa.attempt_outcome) AND ((c.claim_no IS NOT NULL) OR (r.lane_seq > h.last_dead) OR (COALESCE(( SELECT t.last_seq
           FROM awa.ready_tombstones t
          WHERE ((t.slot = r.slot) AND (t.lane_id = r.lane_id) AND (t.first_seq <= r.lane_seq))
          ORDER BY t.first_seq DESC
         LIMIT 1), ('-1'::integer)::bigint) < r.lane_seq)));
CREATE VIEW awa.jobs AS
 SELECT lane_places.id,
    lane_places.kind,
    lane_places.queue,
    lane_places.state,
    lane_places.priority,
    lane_places.attempt,
    lane_places.max_attempts,
    lane_places.args,
    lane_places.tags,
    lane_places.metadata,
    lane_places.errors,
    lane_places.run_at,
    lane_places.created_at,
    lane_places.ready_at,
    lane_places.attempted_at,
    lane_places.finalized_at,
    lane_places.deadline_at,
    lane_places.runtime_id,
    lane_places.enqueue_shard,
    lane_places.progress
   FROM awa.lane_places
UNION ALL
 SELECT deferred_places.id,
    deferred_places.kind,
    deferred_places.queue,
    deferred_places.state,
    deferred_places.priority,
    deferred_places.attempt,
    deferred_places.max_attempts,
    deferred_places.args,
    deferred_places.tags,
    deferred_places.metadata,
    deferred_places.errors,
    deferred_places.run_at,
    deferred_places.created_at,
    deferred_places.ready_at,
    deferred_places.attempted_at,
    deferred_places.finalized_at,
    deferred_places.deadline_at,
    deferred_places.runtime_id,
    deferred_places.enqueue_shard,
    deferred_places.progress
   FROM awa.deferred_places
UNION ALL
 SELECT finished_places.id,
    finished_places.kind,
    finished_places.queue,
    finished_places.state,
    finished_places.priority,
    finished_places.attempt,
    finished_places.max_attempts,
    finished_places.args,
    finished_places.tags,
    finished_places.metadata,
    finished_places.errors,
    finished_places.run_at,
    finished_places.created_at,
    finished_places.ready_at,
    finished_places.attempted_at,
    finished_places.finalized_at,
    finished_places.deadline_at,
    finished_places.runtime_id,
    finished_places.enqueue_shard,
    finished_places.progress
   FROM awa.finished_places;
CREATE TABLE awa.activity (
    at timestamp with time zone NOT NULL,
    scope text NOT NULL,
    name text NOT NULL,
    seconds double precision NOT NULL,
    arrived bigint NOT NULL,
    started bigint NOT NULL,
    completed bigint NOT NULL,
    failed bigint NOT NULL,
    retried bigint NOT NULL,
    cancelled bigint NOT NULL,
    other bigint NOT NULL,
    pickup bigint[] NOT NULL,
    run bigint[] NOT NULL,
    CONSTRAINT activity_scope_check CHECK ((scope = ANY (ARRAY['all'::text, 'queue'::text, 'kind'::text])))
);
CREATE TABLE awa.activity_state (
    one boolean DEFAULT true NOT NULL,
    until timestamp with time zone,
    last_position bigint,
    blocks bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    CONSTRAINT activity_state_one_check CHECK (one)
)
WITH (fillfactor='50');
CREATE TABLE awa.activity_totals (
    slot smallint NOT NULL,
    scope text NOT NULL,
    name text NOT NULL,
    outcome awa.attempt_outcome NOT NULL,
    jobs bigint NOT NULL,
    CONSTRAINT activity_totals_scope_check CHECK ((scope = ANY (ARRAY['queue'::text, 'kind'::text])))
)
WITH (fillfactor='50');
CREATE TABLE awa.batch_operation_events (
    id bigint NOT NULL,
    operation_id uuid NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text NOT NULL,
    from_state text,
    to_state text NOT NULL,
    reason text,
    changes jsonb
);
ALTER TABLE awa.batch_operation_events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME awa.batch_operation_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE awa.batch_operation_holds (
    id bigint NOT NULL,
    held_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    held_by text NOT NULL,
    reason text,
    released_at timestamp with time zone,
    released_by text,
    released_reason text,
    CONSTRAINT batch_operation_holds_check CHECK (((released_at IS NULL) = (released_by IS NULL)))
);
ALTER TABLE awa.batch_operation_holds ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME awa.batch_operation_holds_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE awa.batch_operation_items (
    operation_id uuid NOT NULL,
    job_id bigint NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    error text,
    processed_at timestamp with time zone,
    reason text,
    lane_id integer,
    lane_seq bigint,
    slot smallint,
    before jsonb,
    attempt smallint,
    CONSTRAINT batch_operation_items_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'processed'::text, 'skipped'::text, 'errored'::text])))
)
WITH (fillfactor='40');
CREATE TABLE awa.batch_operation_totals (
    operation_id uuid NOT NULL,
    outcome text NOT NULL,
    reason text NOT NULL,
    items bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE awa.batch_operations (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    op_kind text NOT NULL,
    filter jsonb NOT NULL,
    spec jsonb NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    submitted_by text,
    submitted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_at timestamp with time zone,
    finalized_at timestamp with time zone,
    cursor jsonb,
    total_matched bigint,
    processed bigint DEFAULT 0 NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL,
    errored bigint DEFAULT 0 NOT NULL,
    last_error text,
    runner_instance uuid,
    retention_until timestamp with time zone,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    reason text,
    priority smallint DEFAULT 2 NOT NULL,
    max_rows_per_second integer,
    scan_bound bigint,
    idempotency_key text,
    wait_until timestamp with time zone,
    chunks integer[],
    paused_from text,
    paused_by text,
    paused_at timestamp with time zone,
    paused_reason text,
    paced_until timestamp with time zone,
    not_before timestamp with time zone,
    max_jobs bigint,
    undo_of uuid,
    keeps_places boolean DEFAULT true NOT NULL,
    purge_began_at timestamp with time zone,
    CONSTRAINT batch_operations_max_jobs_check CHECK ((max_jobs > 0)),
    CONSTRAINT batch_operations_max_rows_per_second_check CHECK ((max_rows_per_second > 0)),
    CONSTRAINT batch_operations_paused_check CHECK (((state = 'paused'::text) = (paused_from IS NOT NULL))),
    CONSTRAINT batch_operations_paused_from_check CHECK ((paused_from = ANY (ARRAY['pending'::text, 'scanning'::text, 'running'::text]))),
    CONSTRAINT batch_operations_priority_check CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT batch_operations_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'scanning'::text, 'running'::text, 'paused'::text, 'cancelling'::text, 'completed'::text, 'cancelled'::text, 'failed'::text])))
)
WITH (fillfactor='50');
CREATE TABLE awa.concurrency_admissions (
    key text NOT NULL,
    place smallint NOT NULL,
    job_id bigint NOT NULL,
    CONSTRAINT concurrency_admissions_place_check CHECK ((place >= 1))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='1000');
CREATE TABLE awa.dlq_entries (
    job_id bigint NOT NULL,
    dlq_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    reason text NOT NULL,
    queue text NOT NULL,
    kind text NOT NULL,
    fingerprint text NOT NULL,
    error text
);
CREATE TABLE awa.ended_sessions (
    digest bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT ended_sessions_digest_check CHECK ((octet_length(digest) = 32))
);
CREATE SEQUENCE awa.job_positions
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE VIEW awa.lane_backlog AS
 SELECT id,
    kind,
    queue,
    state,
    priority,
    attempt,
    max_attempts,
    args,
    tags,
    metadata,
    errors,
    run_at,
    created_at,
    ready_at,
    attempted_at,
    finalized_at,
    deadline_at,
    runtime_id,
    enqueue_shard,
    progress,
    lane_id,
    lane_seq,
    slot
   FROM awa.lane_backlog_of(NULL::text[], NULL::smallint) lane_backlog_of(id, kind, queue, state, priority, attempt, max_attempts, args, tags, metadata, errors, run_at, created_at, ready_at, attempted_at, finalized_at, deadline_at, runtime_id, enqueue_shard, progress, lane_id, lane_seq, slot);
CREATE VIEW awa.lane_candidates AS
 SELECT lane_id,
    lane_seq,
    slot,
    txid,
    job_id
   FROM awa.ready_entries r;
CREATE VIEW awa.lane_passed AS
 SELECT j.lane_id,
    j.queue,
    j.priority,
    j.enqueue_shard,
    k.cursor AS passed_below
   FROM (awa.lanes j
     CROSS JOIN LATERAL ( SELECT c.cursor
           FROM awa.lane_claims c
          WHERE ((c.lane_id = j.lane_id) AND (c.jobs > 0))
          ORDER BY c.claim_no DESC
         LIMIT 1) k);
CREATE VIEW awa.lane_rows AS
 SELECT lane_id,
    lane_seq,
    slot,
    txid,
    job_id,
    kind,
    attempt,
    created_at,
    run_at,
    args,
    tags,
    errors,
    true AS unclaimed
   FROM awa.ready_entries r;
CREATE VIEW awa.lane_waiting AS
 WITH heads AS (
         SELECT h.lane_id,
            h.queue,
            h.priority,
            h.enqueue_shard,
            h.effective_priority,
            h.claim_no,
            h.cursor,
            h.seen,
            h.owed,
            h.claimed_at,
            h.slot,
            h.last_dead,
            h.total,
            h.first_waiting,
            g.trusted_from
           FROM (awa.lane_heads h
             CROSS JOIN awa.ring g)
        )
 SELECT job_id AS id,
    kind,
    queue,
    'available'::text AS state,
    priority,
    attempt,
    max_attempts,
    args,
    COALESCE(tags, '{}'::text[]) AS tags,
    COALESCE((metadata - '_awa_progress'::text), '{}'::jsonb) AS metadata,
    COALESCE(errors, '[]'::jsonb) AS errors,
    COALESCE(run_at, created_at) AS run_at,
    created_at,
    ready_at,
    NULL::timestamp with time zone AS attempted_at,
    NULL::timestamp with time zone AS finalized_at,
    NULL::timestamp with time zone AS deadline_at,
    NULL::uuid AS runtime_id,
    enqueue_shard,
    (metadata -> '_awa_progress'::text) AS progress,
    lane_id,
    lane_seq,
    slot
   FROM ( SELECT e.lane_seq,
            e.job_id,
            e.txid,
            e.ready_at,
            e.created_at,
            e.run_at,
            e.lane_id,
            e.slot,
            e.attempt,
            e.max_attempts,
            e.route_shard,
            e.kind,
            e.args,
            e.tags,
            e.metadata,
            e.errors,
            e.unique_key,
            e.route_key,
            e.concurrency_key,
            e.concurrency_limit,
            h.queue,
            h.priority,
            h.enqueue_shard,
            h.last_dead
           FROM (heads h
             JOIN awa.ready_entries e ON (((e.lane_id = h.lane_id) AND (e.lane_seq >= h.cursor))))
        UNION ALL
         SELECT e.lane_seq,
            e.job_id,
            e.txid,
            e.ready_at,
            e.created_at,
            e.run_at,
            e.lane_id,
            e.slot,
            e.attempt,
            e.max_attempts,
            e.route_shard,
            e.kind,
            e.args,
            e.tags,
            e.metadata,
            e.errors,
            e.unique_key,
            e.route_key,
            e.concurrency_key,
            e.concurrency_limit,
            h.queue,
            h.priority,
            h.enqueue_shard,
            h.last_dead
           FROM ((heads h
             CROSS JOIN LATERAL unnest(h.owed) g(g))
             CROSS JOIN LATERAL ( SELECT k.lane_seq,
                    k.job_id,
                    k.txid,
                    k.ready_at,
                    k.created_at,
                    k.run_at,
                    k.lane_id,
                    k.slot,
                    k.attempt,
                    k.max_attempts,
                    k.route_shard,
                    k.kind,
                    k.args,
                    k.tags,
                    k.metadata,
                    k.errors,
                    k.unique_key,
                    k.route_key,
                    k.concurrency_key,
                    k.concurrency_limit
                   FROM awa.ready_entries k
                  WHERE ((k.lane_id = h.lane_id) AND (k.lane_seq >= lower(g.g)) AND (k.lane_seq < upper(g.g)))
                 OFFSET 0) e)
        UNION ALL
         SELECT e.lane_seq,
            e.job_id,
            e.txid,
            e.ready_at,
            e.created_at,
            e.run_at,
            e.lane_id,
            e.slot,
            e.attempt,
            e.max_attempts,
            e.route_shard,
            e.kind,
            e.args,
            e.tags,
            e.metadata,
            e.errors,
            e.unique_key,
            e.route_key,
            e.concurrency_key,
            e.concurrency_limit,
            h.queue,
            h.priority,
            h.enqueue_shard,
            h.last_dead
           FROM (heads h
             CROSS JOIN LATERAL ( SELECT k.lane_seq,
                    k.job_id,
                    k.txid,
                    k.ready_at,
                    k.created_at,
                    k.run_at,
                    k.lane_id,
                    k.slot,
                    k.attempt,
                    k.max_attempts,
                    k.route_shard,
                    k.kind,
                    k.args,
                    k.tags,
                    k.metadata,
                    k.errors,
                    k.unique_key,
                    k.route_key,
                    k.concurrency_key,
                    k.concurrency_limit
                   FROM awa.ready_entries k
                  WHERE ((k.lane_id = h.lane_id) AND (k.txid >= pg_snapshot_xmin(h.seen)) AND (k.lane_seq < h.cursor) AND (NOT pg_visible_in_snapshot(k.txid, h.seen)))
                 OFFSET 0) e)
          WHERE ((e.lane_seq >= h.trusted_from) AND (NOT (e.lane_seq <@ h.owed)))) r
  WHERE ((lane_seq > last_dead) OR (COALESCE(( SELECT t.last_seq
           FROM awa.ready_tombstones t
          WHERE ((t.slot = r.slot) AND (t.lane_id = r.lane_id) AND (t.first_seq <= r.lane_seq))
          ORDER BY t.first_seq DESC
         LIMIT 1), ('-1'::integer)::bigint) < lane_seq));
ALTER TABLE awa.lanes ALTER COLUMN lane_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME awa.lanes_lane_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE awa.leases (
    name text NOT NULL,
    holder uuid NOT NULL,
    acquired_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    fence bigint DEFAULT 1 NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE awa.owed_follow_ups (
    id bigint NOT NULL,
    owed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    job_id bigint NOT NULL,
    kind text NOT NULL,
    queue text NOT NULL,
    priority smallint NOT NULL,
    attempt smallint NOT NULL,
    max_attempts smallint NOT NULL,
    args json NOT NULL,
    tags text[] NOT NULL,
    metadata jsonb NOT NULL,
    errors jsonb NOT NULL,
    progress jsonb,
    run_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    attempted_at timestamp with time zone,
    finalized_at timestamp with time zone
);
ALTER TABLE awa.owed_follow_ups ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME awa.owed_follow_ups_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE awa.plan_secret (
    single boolean DEFAULT true NOT NULL,
    secret bytea DEFAULT sha256((uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))) NOT NULL,
    CONSTRAINT plan_secret_secret_check CHECK ((octet_length(secret) >= 32)),
    CONSTRAINT plan_secret_single_check CHECK (single)
);
CREATE TABLE awa.queue_meta (
    queue text NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    paused_by text,
    paused_at timestamp with time zone,
    enqueue_shards smallint DEFAULT 1 NOT NULL,
    description text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    dlq_enabled boolean DEFAULT false NOT NULL,
    max_running integer,
    rate_limit integer,
    rate_period_s double precision,
    CONSTRAINT queue_meta_check CHECK (((rate_limit IS NULL) = (rate_period_s IS NULL))),
    CONSTRAINT queue_meta_enqueue_shards_check CHECK (((enqueue_shards >= 1) AND (enqueue_shards <= 64))),
    CONSTRAINT queue_meta_max_running_check CHECK (((max_running >= 1) AND (max_running <= 1000000))),
    CONSTRAINT queue_meta_queue_check CHECK (((length(queue) >= 1) AND (length(queue) <= 200))),
    CONSTRAINT queue_meta_rate_limit_check CHECK (((rate_limit >= 1) AND (rate_limit <= 1000000))),
    CONSTRAINT queue_meta_rate_period_s_check CHECK (((rate_period_s >= (0.1)::double precision) AND (rate_period_s <= (86400)::double precision)))
);
CREATE TABLE awa.ring_slots (
    slot smallint NOT NULL,
    retired_txid xid8,
    seen_at timestamp with time zone,
    counted pg_snapshot
)
WITH (fillfactor='50');
CREATE TABLE awa.runtimes (
    id uuid NOT NULL,
    state text DEFAULT 'alive'::text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    roles text[] NOT NULL,
    queues jsonb DEFAULT '{}'::jsonb NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    heartbeat_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    open_since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    settled boolean DEFAULT false NOT NULL,
    app text,
    schedules text[],
    settle_from xid8,
    on_failed text[],
    CONSTRAINT runtimes_state_check CHECK ((state = ANY (ARRAY['alive'::text, 'stopped'::text, 'dead'::text])))
)
WITH (fillfactor='70');
CREATE VIEW awa.running_jobs AS
 SELECT r.job_id AS id,
    r.kind,
    l.queue,
    'running'::text AS state,
    l.priority,
    ((r.attempt + 1))::smallint AS attempt,
    r.max_attempts,
    r.args,
    COALESCE(r.tags, '{}'::text[]) AS tags,
    (COALESCE((r.metadata - '_awa_progress'::text), '{}'::jsonb) || COALESCE(( SELECT a.metadata
           FROM awa.attempts a
          WHERE (a.lane_seq = r.lane_seq)), '{}'::jsonb)) AS metadata,
    COALESCE(r.errors, '[]'::jsonb) AS errors,
    COALESCE(r.run_at, r.created_at) AS run_at,
    r.created_at,
    r.ready_at,
    o.claimed_at AS attempted_at,
    NULL::timestamp with time zone AS finalized_at,
    o.deadline_at,
    t.id AS runtime_id,
    l.enqueue_shard,
    COALESCE(( SELECT a.progress
           FROM awa.attempts a
          WHERE (a.lane_seq = r.lane_seq)), (r.metadata -> '_awa_progress'::text)) AS progress
   FROM (((awa.runtimes t
     CROSS JOIN LATERAL awa.open_attempts(t.id, (t.open_since - '00:00:01'::interval)) o(lane_id, claim_no, lane_seq, claimed_at, deadline_at))
     JOIN awa.lanes l ON ((l.lane_id = o.lane_id)))
     CROSS JOIN LATERAL ( SELECT e.lane_seq,
            e.job_id,
            e.txid,
            e.ready_at,
            e.created_at,
            e.run_at,
            e.lane_id,
            e.slot,
            e.attempt,
            e.max_attempts,
            e.route_shard,
            e.kind,
            e.args,
            e.tags,
            e.metadata,
            e.errors,
            e.unique_key,
            e.route_key,
            e.concurrency_key,
            e.concurrency_limit
           FROM awa.ready_entries e
          WHERE ((e.lane_id = o.lane_id) AND (e.lane_seq = o.lane_seq))
         OFFSET 0) r)
  WHERE (NOT t.settled);
CREATE TABLE awa.schema_migrations (
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE TABLE awa.schema_objects (
    kind text NOT NULL,
    name text NOT NULL,
    digest text NOT NULL,
    server integer NOT NULL
);
CREATE TABLE awa.unique_keys (
    key bytea NOT NULL,
    job_id bigint NOT NULL
)
WITH (fillfactor='90', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='1000');
CREATE VIEW awa.waiting_backlog AS
 SELECT lane_backlog.id,
    lane_backlog.kind,
    lane_backlog.queue,
    lane_backlog.state,
    lane_backlog.priority,
    lane_backlog.attempt,
    lane_backlog.max_attempts,
    lane_backlog.args,
    lane_backlog.tags,
    lane_backlog.metadata,
    lane_backlog.errors,
    lane_backlog.run_at,
    lane_backlog.created_at,
    lane_backlog.ready_at,
    lane_backlog.attempted_at,
    lane_backlog.finalized_at,
    lane_backlog.deadline_at,
    lane_backlog.runtime_id,
    lane_backlog.enqueue_shard,
    lane_backlog.progress,
    lane_backlog.lane_id,
    lane_backlog.lane_seq,
    lane_backlog.slot
   FROM awa.lane_backlog
UNION ALL
 SELECT d.job_id AS id,
    d.kind,
    d.queue,
    d.state,
    d.priority,
    d.attempt,
    d.max_attempts,
    d.args,
    COALESCE(d.tags, '{}'::text[]) AS tags,
    COALESCE((d.metadata - '_awa_progress'::text), '{}'::jsonb) AS metadata,
    COALESCE(d.errors, '[]'::jsonb) AS errors,
    d.run_at,
    d.created_at,
    d.deferred_at AS ready_at,
    NULL::timestamp with time zone AS attempted_at,
    NULL::timestamp with time zone AS finalized_at,
    NULL::timestamp with time zone AS deadline_at,
    NULL::uuid AS runtime_id,
    (COALESCE((d.route_shard)::integer, 0))::smallint AS enqueue_shard,
    (d.metadata -> '_awa_progress'::text) AS progress,
    NULL::integer AS lane_id,
    NULL::bigint AS lane_seq,
    NULL::smallint AS slot
   FROM awa.deferred_jobs d
  WHERE (d.state <> 'waiting_external'::text);
CREATE VIEW awa.waiting_jobs AS
 SELECT lane_waiting.id,
    lane_waiting.kind,
    lane_waiting.queue,
    lane_waiting.state,
    lane_waiting.priority,
    lane_waiting.attempt,
    lane_waiting.max_attempts,
    lane_waiting.args,
    lane_waiting.tags,
    lane_waiting.metadata,
    lane_waiting.errors,
    lane_waiting.run_at,
    lane_waiting.created_at,
    lane_waiting.ready_at,
    lane_waiting.attempted_at,
    lane_waiting.finalized_at,
    lane_waiting.deadline_at,
    lane_waiting.runtime_id,
    lane_waiting.enqueue_shard,
    lane_waiting.progress,
    lane_waiting.lane_id,
    lane_waiting.lane_seq,
    lane_waiting.slot
   FROM awa.lane_waiting
UNION ALL
 SELECT d.job_id AS id,
    d.kind,
    d.queue,
    d.state,
    d.priority,
    d.attempt,
    d.max_attempts,
    d.args,
    COALESCE(d.tags, '{}'::text[]) AS tags,
    COALESCE((d.metadata - '_awa_progress'::text), '{}'::jsonb) AS metadata,
    COALESCE(d.errors, '[]'::jsonb) AS errors,
    d.run_at,
    d.created_at,
    d.deferred_at AS ready_at,
    NULL::timestamp with time zone AS attempted_at,
    NULL::timestamp with time zone AS finalized_at,
    NULL::timestamp with time zone AS deadline_at,
    NULL::uuid AS runtime_id,
    (COALESCE((d.route_shard)::integer, 0))::smallint AS enqueue_shard,
    (d.metadata -> '_awa_progress'::text) AS progress,
    NULL::integer AS lane_id,
    NULL::bigint AS lane_seq,
    NULL::smallint AS slot
   FROM awa.deferred_jobs d
  WHERE (d.state <> 'waiting_external'::text);
ALTER TABLE ONLY awa.activity
    ADD CONSTRAINT activity_pkey PRIMARY KEY (scope, at, name);
ALTER TABLE ONLY awa.activity_state
    ADD CONSTRAINT activity_state_pkey PRIMARY KEY (one);
ALTER TABLE ONLY awa.activity_totals
    ADD CONSTRAINT activity_totals_pkey PRIMARY KEY (slot, scope, name, outcome);
ALTER TABLE ONLY awa.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (lane_seq);
ALTER TABLE ONLY awa.batch_operation_events
    ADD CONSTRAINT batch_operation_events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY awa.batch_operation_holds
    ADD CONSTRAINT batch_operation_holds_pkey PRIMARY KEY (id);
ALTER TABLE ONLY awa.batch_operation_items
    ADD CONSTRAINT batch_operation_items_pkey PRIMARY KEY (operation_id, job_id);
ALTER TABLE ONLY awa.batch_operation_totals
    ADD CONSTRAINT batch_operation_totals_pkey PRIMARY KEY (operation_id, outcome, reason);
ALTER TABLE ONLY awa.batch_operations
    ADD CONSTRAINT batch_operations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY awa.callbacks
    ADD CONSTRAINT callbacks_pkey PRIMARY KEY (callback_id);
ALTER TABLE ONLY awa.concurrency_admissions
    ADD CONSTRAINT concurrency_admissions_pkey PRIMARY KEY (key, place);
ALTER TABLE ONLY awa.cron_jobs
    ADD CONSTRAINT cron_jobs_pkey PRIMARY KEY (name);
ALTER TABLE ONLY awa.deferred_jobs
    ADD CONSTRAINT deferred_jobs_pkey PRIMARY KEY (job_id);
ALTER TABLE ONLY awa.dlq_entries
    ADD CONSTRAINT dlq_entries_pkey PRIMARY KEY (job_id);
ALTER TABLE ONLY awa.ended_sessions
    ADD CONSTRAINT ended_sessions_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY awa.finished_jobs
    ADD CONSTRAINT finished_jobs_pkey PRIMARY KEY (job_id);
ALTER TABLE ONLY awa.lanes
    ADD CONSTRAINT lanes_pkey PRIMARY KEY (lane_id);
ALTER TABLE ONLY awa.lanes
    ADD CONSTRAINT lanes_queue_priority_enqueue_shard_copy_key UNIQUE (queue, priority, enqueue_shard, copy);
ALTER TABLE ONLY awa.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (name);
ALTER TABLE ONLY awa.owed_follow_ups
    ADD CONSTRAINT owed_follow_ups_pkey PRIMARY KEY (id);
ALTER TABLE ONLY awa.plan_secret
    ADD CONSTRAINT plan_secret_pkey PRIMARY KEY (single);
ALTER TABLE ONLY awa.queue_meta
    ADD CONSTRAINT queue_meta_pkey PRIMARY KEY (queue);
ALTER TABLE ONLY awa.ring
    ADD CONSTRAINT ring_pkey PRIMARY KEY (one);
ALTER TABLE ONLY awa.ring_slots
    ADD CONSTRAINT ring_slots_pkey PRIMARY KEY (slot);
ALTER TABLE ONLY awa.runtimes
    ADD CONSTRAINT runtimes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY awa.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (name);
ALTER TABLE ONLY awa.schema_objects
    ADD CONSTRAINT schema_objects_pkey PRIMARY KEY (kind, name);
ALTER TABLE ONLY awa.unique_keys
    ADD CONSTRAINT unique_keys_pkey PRIMARY KEY (key);
CREATE INDEX activity_at_idx ON awa.activity USING btree (at);
CREATE INDEX attempt_closures_lane_id_claim_no_idx ON ONLY awa.attempt_closures USING btree (lane_id, claim_no);
CREATE INDEX attempts_job_id_idx ON awa.attempts USING btree (job_id);
CREATE INDEX attempts_runtime_id_idx ON awa.attempts USING btree (runtime_id);
CREATE INDEX batch_operation_events_operation_id_id_idx ON awa.batch_operation_events USING btree (operation_id, id);
CREATE UNIQUE INDEX batch_operation_holds_expr_idx ON awa.batch_operation_holds USING btree (((released_at IS NULL))) WHERE (released_at IS NULL);
CREATE UNIQUE INDEX batch_operations_idempotency_key_idx ON awa.batch_operations USING btree (idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX batch_operations_priority_submitted_at_id_idx ON awa.batch_operations USING btree (priority, submitted_at, id) WHERE (state = ANY (ARRAY['pending'::text, 'scanning'::text, 'running'::text, 'paused'::text, 'cancelling'::text]));
CREATE INDEX batch_operations_retention_until_idx ON awa.batch_operations USING btree (retention_until) WHERE (retention_until IS NOT NULL);
CREATE INDEX batch_operations_submitted_at_id_idx ON awa.batch_operations USING btree (submitted_at DESC, id DESC);
CREATE INDEX batch_operations_undo_of_idx ON awa.batch_operations USING btree (undo_of) WHERE (undo_of IS NOT NULL);
CREATE INDEX callbacks_applied_at_idx ON awa.callbacks USING btree (applied_at) WHERE (applied_at IS NOT NULL);
CREATE INDEX callbacks_expires_at_idx ON awa.callbacks USING btree (expires_at) WHERE (resolved_at IS NULL);
CREATE INDEX callbacks_job_id_idx ON awa.callbacks USING btree (job_id);
CREATE INDEX callbacks_resolved_at_idx ON awa.callbacks USING btree (resolved_at) WHERE (resolved_at IS NOT NULL);
CREATE INDEX cron_jobs_next_fire_at_idx ON awa.cron_jobs USING btree (next_fire_at) WHERE ((paused_at IS NULL) AND (retired_at IS NULL));
CREATE INDEX deferred_jobs_concurrency_key_priority_job_id_idx ON awa.deferred_jobs USING btree (concurrency_key, priority, job_id) WHERE (state = 'available'::text);
CREATE INDEX deferred_jobs_queue_job_id_idx ON awa.deferred_jobs USING btree (queue, job_id);
CREATE INDEX deferred_jobs_queue_job_id_idx1 ON awa.deferred_jobs USING btree (queue, job_id) WHERE (state = 'available'::text);
CREATE INDEX deferred_jobs_run_at_job_id_idx ON awa.deferred_jobs USING btree (run_at, job_id) WHERE (state = ANY (ARRAY['scheduled'::text, 'retryable'::text]));
CREATE INDEX dlq_entries_dlq_at_job_id_idx ON awa.dlq_entries USING btree (dlq_at, job_id);
CREATE INDEX dlq_entries_kind_fingerprint_idx ON awa.dlq_entries USING btree (kind, fingerprint);
CREATE INDEX dlq_entries_queue_dlq_at_idx ON awa.dlq_entries USING btree (queue, dlq_at);
CREATE INDEX ended_sessions_expires_at_idx ON awa.ended_sessions USING btree (expires_at);
CREATE INDEX finished_jobs_finalized_at_idx ON awa.finished_jobs USING btree (finalized_at);
CREATE INDEX finished_jobs_finalized_at_idx1 ON awa.finished_jobs USING btree (finalized_at) WHERE (state = 'completed'::text);
CREATE INDEX finished_jobs_queue_job_id_idx ON awa.finished_jobs USING btree (queue, job_id);
CREATE INDEX lane_claims_lane_id_claim_no_idx ON ONLY awa.lane_claims USING btree (lane_id, claim_no);
CREATE INDEX lane_claims_runtime_id_claimed_at_idx ON ONLY awa.lane_claims USING btree (runtime_id, claimed_at) WHERE (jobs > 0);
CREATE INDEX lane_claims_seqs_idx ON ONLY awa.lane_claims USING gist (seqs) WHERE (jobs > 0);
CREATE INDEX owed_follow_ups_kind_id_idx ON awa.owed_follow_ups USING btree (kind, id);
CREATE INDEX owed_follow_ups_owed_at_idx ON awa.owed_follow_ups USING btree (owed_at);
CREATE INDEX ready_entries_job_id_idx ON ONLY awa.ready_entries USING btree (job_id);
CREATE UNIQUE INDEX ready_entries_lane_id_lane_seq_slot_idx ON ONLY awa.ready_entries USING btree (lane_id, lane_seq, slot);
CREATE INDEX ready_entries_lane_id_txid_lane_seq_idx ON ONLY awa.ready_entries USING btree (lane_id, txid, lane_seq);
CREATE INDEX ready_tombstones_lane_id_first_seq_last_seq_idx ON ONLY awa.ready_tombstones USING btree (lane_id, first_seq) INCLUDE (last_seq);
ALTER TABLE ONLY awa.batch_operation_events
    ADD CONSTRAINT batch_operation_events_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES awa.batch_operations(id) ON DELETE CASCADE;
ALTER TABLE ONLY awa.batch_operation_items
    ADD CONSTRAINT batch_operation_items_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES awa.batch_operations(id) ON DELETE CASCADE;
ALTER TABLE ONLY awa.batch_operation_totals
    ADD CONSTRAINT batch_operation_totals_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES awa.batch_operations(id) ON DELETE CASCADE;
ALTER TABLE ONLY awa.dlq_entries
    ADD CONSTRAINT dlq_entries_job_id_fkey FOREIGN KEY (job_id) REFERENCES awa.finished_jobs(job_id) ON DELETE CASCADE;
