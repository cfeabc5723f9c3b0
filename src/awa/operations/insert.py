"""Inserting jobs on a connection: for the client, its transactions and the bridges to other libraries alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Any, TypeVar

import psycopg

from awa.events import jobs as events
from awa.model import exact
from awa.model.draft import (
    Draft,
    Options,
    Prepared,
    prepare,
    prepare_alike,
    prepare_many,
    queue_for,
)
from awa.model.errors import Conflict
from awa.model.inserted import inserted_jobs
from awa.model.job import Job, job_from_row
from awa.model.payload import decoder
from awa.model.portions import Unwritable, in_portions
from awa.model.states import JobState
from awa.model.task import Tasks
from awa.storage import unique
from awa.storage.enqueue import (
    Inserted,
    InsertedAlike,
    NewJob,
    enqueue_alike,
    enqueue_many,
    enqueue_one,
    enqueue_portions,
    fits_one_statement,
    wake,
)

A = TypeVar("A")


async def insert_job(
    conn: psycopg.AsyncConnection[Any],
    args: A,
    options: Options,
    tasks: Tasks | None = None,
    *,
    alone: bool = False,
) -> Job[A]:
    """Insert one job in the caller's transaction. Raises ValidationError and UniqueConflict, having written nothing.

    `alone`: there is no such transaction.
    """
    prepared = prepare(args, options, tasks)
    queue = queue_for([prepared.kind], options, tasks)
    inserted = await enqueue_one(conn, queue, new_job(prepared), alone=alone)
    if inserted.insertion != "inserted":
        holders = await _holders(conn, [inserted])
        return _held(args, prepared.kind, holders[inserted.job_id], inserted)
    events.inserted(queue, 1)
    return _job(args, queue, prepared, inserted)


async def insert_jobs(
    conn: psycopg.AsyncConnection[Any],
    jobs: Iterable[Any],
    options: Options,
    tasks: Tasks | None = None,
    *,
    alone: bool = False,
) -> list[Job[Any]]:
    """Insert jobs of one queue in the caller's transaction; nothing is written if one of them is wrong.

    `alone`: there is no such transaction, and all of them belong together.
    """
    given = list(jobs)
    if alone and (large := await _insert_large(conn, given, options, tasks)) is not None:
        return large
    if (alike := prepare_alike(given, options, tasks)) is not None:
        at_once = fits_one_statement(map(len, alike[1]), len(given))
        async with conn.transaction() if alone and not at_once else nullcontext():
            return await _insert_alike(conn, given, alike, options, tasks, alone=alone and at_once)
    prepared = prepare_many(given, options, tasks)
    queue = queue_for((job.kind for job in prepared), options, tasks)
    async with _together(conn, (len(job.args_json) for job in prepared), len(prepared), alone):
        inserted = await enqueue_many(conn, queue, [new_job(job) for job in prepared])
    held = [where for where in inserted if where.insertion != "inserted"]
    holders = await _holders(conn, held) if held else {}
    events.inserted(queue, len(inserted) - len(held))
    return [
        _job(args, queue, job, where)
        if where.insertion == "inserted"
        else _held(args, job.kind, holders[where.job_id], where)
        for args, job, where in zip(given, prepared, inserted, strict=True)
    ]


async def _holders(
    conn: psycopg.AsyncConnection[Any], held: Sequence[Inserted]
) -> dict[int, Job[Any]]:
    """The jobs that have the unique keys, as they are now."""
    ids = {where.job_id for where in held}
    rows = await unique.holders(conn, sorted(ids))
    if ids - rows.keys():
        raise Conflict(
            f"job {min(ids - rows.keys())} held the unique key and was removed a moment later",
            hint="insert the job again",
        )
    return {job_id: job_from_row(row) for job_id, row in rows.items()}


def _held(args: Any, kind: str, holder: Job[Any], where: Inserted) -> Job[Any]:
    """The holder as the caller may read it: its arguments of the type of his, unless they don't fit that."""
    own = args.args if isinstance(args, Draft) else args
    found = holder.args
    if holder.kind == kind and not isinstance(own, Mapping):
        with suppress(ValueError):
            found = decoder(type(own))(exact.dumps(found))
    return replace(holder, args=found, insertion=where.insertion)


async def _insert_alike(
    conn: psycopg.AsyncConnection[Any],
    given: list[Any],
    alike: tuple[str, list[bytes]],
    options: Options,
    tasks: Tasks | None,
    *,
    alone: bool,
) -> list[Job[Any]]:
    """The usual set: one kind, one set of options, many arguments."""
    kind, texts = alike
    queue = queue_for([kind], options, tasks)
    like = Prepared(kind, b"", options)
    inserted = await enqueue_alike(conn, queue, new_job(like), texts, alone=alone)
    events.inserted(queue, len(given))
    return _jobs_alike(given, queue, like, inserted)


async def _insert_large(
    conn: psycopg.AsyncConnection[Any], given: list[Any], options: Options, tasks: Tasks | None
) -> list[Job[Any]] | None:
    """A set of large arguments, written while the server is at what is written; None if it's none, or can't be written.

    In a transaction of its own: a caller's would keep what was inserted before a job turns out to be wrong.
    """
    if (large := in_portions(given, options, tasks)) is None:
        return None
    kind, portions = large
    queue = queue_for([kind], options, tasks)
    like = Prepared(kind, b"", options)
    try:
        async with conn.transaction():
            inserted, wake_wanted = await enqueue_portions(conn, queue, new_job(like), portions)
    except Unwritable:
        return None
    if wake_wanted:
        await wake(conn, queue)
    events.inserted(queue, len(given))
    return _jobs_alike(given, queue, like, inserted)


def _jobs_alike(
    given: list[Any], queue: str, like: Prepared, inserted: Iterable[InsertedAlike]
) -> list[Job[Any]]:
    """The jobs of a set as the caller knows them, part after part."""
    jobs: list[Job[Any]] = []
    done = 0
    for ids, state, created_at in inserted:
        part = given[done : done + len(ids)]
        jobs += inserted_jobs(
            ids, part, _job(part[0], queue, like, Inserted(ids[0], state, created_at))
        )
        done += len(ids)
    return jobs


def _together(
    conn: psycopg.AsyncConnection[Any], sizes: Iterable[int], jobs: int, alone: bool
) -> AbstractAsyncContextManager[Any]:
    """A transaction where one is needed: a single statement is one by itself, and saves two round trips."""
    if not alone or fits_one_statement(sizes, jobs):
        return nullcontext()
    return conn.transaction()


def new_job(job: Prepared) -> NewJob:
    """A prepared job as the storage takes it."""
    o = job.options
    return NewJob(
        job.kind,
        job.args_json,
        o.priority,
        o.run_at,
        o.max_attempts,
        o.tags,
        o.metadata,
        o.ordering_key,
        o.unique_opts,
        o.concurrency_key,
        o.concurrency_limit or 1,
    )


def _job(args: Any, queue: str, job: Prepared, where: Inserted) -> Job[Any]:
    """The inserted job as the caller knows it."""
    options = job.options
    return Job(
        id=where.job_id,
        kind=job.kind,
        queue=queue,
        state=JobState(where.state or JobState.AVAILABLE),
        priority=options.priority,
        attempt=0,
        max_attempts=options.max_attempts,
        args=args.args if isinstance(args, Draft) else args,
        tags=tuple(options.tags or ()),
        metadata=options.metadata or {},
        errors=(),
        run_at=options.run_at or where.created_at,
        created_at=where.created_at,
        ready_at=None if where.state == "scheduled" else where.created_at,
        insertion="inserted",
    )
