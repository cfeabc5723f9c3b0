"""Inserting a job through a connection that a program has already, in the transaction that it has open.

    async with conn.transaction():
        await conn.execute("INSERT INTO orders …")
        await awa.bridge.insert_job(conn, SendEmail(…), queue="email")

The job exists when that transaction commits, and leaves no trace when it's rolled back.
"""

from __future__ import annotations

from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import psycopg
from psycopg.rows import tuple_row

from awa.model.draft import JobOptions, check_options
from awa.model.errors import invalid_field
from awa.model.job import Job
from awa.operations.insert import insert_job as _insert

A = TypeVar("A")
T = TypeVar("T")


async def insert_job(connection: Any, args: A, **options: Unpack[JobOptions]) -> Job[A]:
    """Insert one job through a psycopg AsyncConnection (or a cursor of one). Options as `AsyncClient.insert`.

    Raises ValidationError for a bad option, or a connection of a kind that isn't supported.
    """
    if isinstance(connection, psycopg.AsyncCursor):
        connection = connection.connection
    if not isinstance(connection, psycopg.AsyncConnection):
        raise _unsupported(connection, "psycopg.AsyncConnection", "insert_job_sync")
    return await _insert(connection, args, check_options(options))


def insert_job_sync(connection: Any, args: A, **options: Unpack[JobOptions]) -> Job[A]:
    """Insert one job through a psycopg Connection (or a cursor of one). As `insert_job`, blocking."""
    if isinstance(connection, psycopg.Cursor):
        connection = connection.connection
    if not isinstance(connection, psycopg.Connection):
        raise _unsupported(connection, "psycopg.Connection", "insert_job")
    facade: Any = _Connection(connection)
    return _at_once(_insert(facade, args, check_options(options)))


class _Connection:
    """A blocking connection that looks like an async one whose awaits never wait."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def cursor(self, *, binary: bool = False, row_factory: Any = tuple_row) -> _Cursor:
        return _Cursor(self._connection.cursor(binary=binary, row_factory=row_factory))


class _Cursor:
    def __init__(self, cursor: psycopg.Cursor[Any]) -> None:
        self._cursor = cursor

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._cursor.close()

    async def execute(self, statement: Any, params: Any = None) -> None:
        self._cursor.execute(statement, params)

    async def fetchall(self) -> list[Any]:
        return self._cursor.fetchall()


def _at_once(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits for anything."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("a blocking insert tried to wait; this is a defect of awa")


def _unsupported(connection: object, expected: str, other: str) -> Exception:
    if isinstance(connection, psycopg.Connection | psycopg.AsyncConnection):
        return invalid_field("connection", f"expected a {expected}", hint=f"use {other}")
    kind = f"{type(connection).__module__}.{type(connection).__qualname__}"
    return invalid_field(
        "connection",
        f"expected a {expected}, got {kind}",
        hint="this version speaks psycopg only; asyncpg, SQLAlchemy and Django come later",
    )
