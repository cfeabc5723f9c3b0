-- The table that a plain queue would have: the reference of what one statement costs without any engine.
create table plain_jobs (
    id         bigint generated always as identity primary key,
    queue      text not null,
    priority   smallint not null,
    state      text not null default 'available',
    kind       text not null,
    args       json not null,
    created_at timestamptz not null default clock_timestamp(),
    run_at     timestamptz not null default clock_timestamp()
);
create index on plain_jobs (queue, priority, id) where state = 'available'
