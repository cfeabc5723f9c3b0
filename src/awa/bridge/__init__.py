"""Inserting jobs through a connection that a program has already, in the transaction that it has open.

    async with conn.transaction():
        await conn.execute("INSERT INTO orders …")
        await awa.bridge.insert_job(conn, SendEmail(…), queue="email")

The job exists when that transaction commits, and leaves no trace when it's rolled back; workers are woken by
the commit. Where no transaction is open (asyncpg, Django, AUTOCOMMIT), the insert is committed by itself like
any other statement there.

Spoken are psycopg, asyncpg, psycopg2, SQLAlchemy and Django. None of them but psycopg is needed or imported.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar, Unpack, cast

from awa.bridge.facade import Facade
from awa.bridge.recognise import speaker_for
from awa.bridge.speaker import Speaker
from awa.db.run import Connection
from awa.model.draft import JobOptions, Options, check_options
from awa.model.errors import invalid_field
from awa.model.job import Job
from awa.model.task import Tasks
from awa.operations.insert import insert_job as _insert
from awa.operations.insert import insert_jobs as _insert_many

__all__ = ["insert_job", "insert_job_sync", "insert_many_jobs", "insert_many_jobs_sync"]

A = TypeVar("A")
T = TypeVar("T")


async def insert_job(
    connection: Any, args: A, *, tasks: Tasks | None = None, **options: Unpack[JobOptions]
) -> Job[A]:
    """Insert one job through an async connection, in its transaction. Options as `AsyncClient.insert`.

    `connection` is a psycopg AsyncConnection (or a cursor of one), an asyncpg Connection, or an AsyncSession or
    AsyncConnection of SQLAlchemy. With `tasks=client.tasks` kind and queue come from the registered task.
    Raises ValidationError for a bad option, or a connection of a kind that isn't supported.
    """
    conn = _facade(speaker_for(connection, blocking=False))
    return await _insert(conn, args, check_options(options), tasks)


def insert_job_sync(
    connection: Any, args: A, *, tasks: Tasks | None = None, **options: Unpack[JobOptions]
) -> Job[A]:
    """As `insert_job`, blocking.

    `connection` is a Connection of psycopg or psycopg2 (or a cursor of one), a Session or Connection of
    SQLAlchemy, or a connection of Django: `django.db.connection`, `connections["other"]`.
    """
    conn = _facade(speaker_for(connection, blocking=True))
    return at_once(_insert(conn, args, check_options(options), tasks))


async def insert_many_jobs(
    connection: Any,
    jobs: Sequence[Any],
    *,
    tasks: Tasks | None = None,
    **options: Unpack[JobOptions],
) -> list[Job[Any]]:
    """Insert several jobs into one queue, in the transaction that is open. As `AsyncClient.insert_many`.

    A large set takes several statements, so without an open transaction this is refused.
    """
    return await _insert_set(
        speaker_for(connection, blocking=False), jobs, check_options(options), tasks
    )


def insert_many_jobs_sync(
    connection: Any,
    jobs: Sequence[Any],
    *,
    tasks: Tasks | None = None,
    **options: Unpack[JobOptions],
) -> list[Job[Any]]:
    """As `insert_many_jobs`, blocking; connections as `insert_job_sync`."""
    speaker = speaker_for(connection, blocking=True)
    return at_once(_insert_set(speaker, jobs, check_options(options), tasks))


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits for anything, as one over a blocking connection."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("a blocking insert tried to wait; this is a defect of awa")


async def _insert_set(
    speaker: Speaker, jobs: Sequence[Any], options: Options, tasks: Tasks | None
) -> list[Job[Any]]:
    if not await speaker.in_transaction():
        raise invalid_field(
            "connection",
            "has no transaction open, so a set of jobs could be inserted in part",
            hint="open one around the call, as you would for your own rows",
        )
    return await _insert_many(_facade(speaker), jobs, options, tasks)


def _facade(speaker: Speaker) -> Connection:
    return cast("Connection", Facade(speaker))
