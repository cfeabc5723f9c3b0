"""The drivers themselves: psycopg, asyncpg and psycopg2."""

from __future__ import annotations

import sys
from typing import Any, cast

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from awa.bridge.speaker import Answer, Params, Speaker, Statement, as_psycopg
from awa.bridge.statements import named, numbered
from awa.db.arrays import teach


class Psycopg:
    """psycopg's async connection. The cursor is our own, so the program's row and cursor factories don't matter."""

    blocking = False

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection

    async def run(self, statement: Statement, params: Params, *, binary: bool) -> Answer:
        async with psycopg.AsyncCursor(self._connection, row_factory=tuple_row) as cursor:
            teach(cursor.adapters)
            await cursor.execute(cast("sql.Composed", statement), params, binary=binary)
            columns = [column.name for column in cursor.description or ()]
            return Answer(columns, await cursor.fetchall() if columns else ())

    async def in_transaction(self) -> bool:
        return _psycopg_in_transaction(self._connection)


class BlockingPsycopg:
    """psycopg's blocking connection."""

    blocking = True

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    async def run(self, statement: Statement, params: Params, *, binary: bool) -> Answer:
        with psycopg.Cursor(self._connection, row_factory=tuple_row) as cursor:
            teach(cursor.adapters)
            cursor.execute(cast("sql.Composed", statement), params, binary=binary)
            columns = [column.name for column in cursor.description or ()]
            return Answer(columns, cursor.fetchall() if columns else ())

    async def in_transaction(self) -> bool:
        return _psycopg_in_transaction(self._connection)


class Asyncpg:
    """asyncpg's connection, or what its pool hands out in its place."""

    blocking = False

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def run(self, statement: Statement, params: Params, *, binary: bool) -> Answer:
        import asyncpg

        text, values = numbered(statement, params)
        # Of a connection that was just lost asyncpg says that it's busy, as an internal error.
        errors = asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError
        with as_psycopg(*errors):
            records = await self._connection.fetch(text, *values)
        columns = list(records[0].keys()) if records else []
        return Answer(columns, [tuple(record.values()) for record in records])

    async def in_transaction(self) -> bool:
        return bool(self._connection.is_in_transaction())


class Psycopg2:
    """psycopg2's connection."""

    blocking = True

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def run(self, statement: Statement, params: Params, *, binary: bool) -> Answer:
        import psycopg2
        from psycopg2.extensions import cursor as plain_cursor

        text, values = named(statement, params)
        with (
            as_psycopg(psycopg2.Error),
            self._connection.cursor(cursor_factory=plain_cursor) as cursor,
        ):
            cursor.execute(text, values)
            columns = [column.name for column in cursor.description or ()]
            return Answer(columns, cursor.fetchall() if columns else ())

    async def in_transaction(self) -> bool:
        idle = self._connection.info.transaction_status == TransactionStatus.IDLE
        return not (self._connection.autocommit and idle)


def find(given: Any) -> Speaker | None:
    """The speaker for a connection of one of the drivers, or for a cursor of one; None if it's something else."""
    if isinstance(given, psycopg.AsyncCursor | psycopg.Cursor):
        given = given.connection
    if isinstance(given, psycopg.AsyncConnection):
        return Psycopg(given)
    if isinstance(given, psycopg.Connection):
        return BlockingPsycopg(given)
    return _of_asyncpg(given) or _of_psycopg2(given)


def _of_asyncpg(given: Any) -> Speaker | None:
    # A connection of a library can only be here if the library was imported.
    asyncpg: Any = sys.modules.get("asyncpg")
    if asyncpg is not None and isinstance(
        given, asyncpg.Connection | asyncpg.pool.PoolConnectionProxy
    ):
        return Asyncpg(given)
    return None


def _of_psycopg2(given: Any) -> Speaker | None:
    extensions: Any = sys.modules.get("psycopg2.extensions")
    if extensions is None:
        return None
    if isinstance(given, extensions.cursor):
        given = given.connection
    return Psycopg2(given) if isinstance(given, extensions.connection) else None


def _psycopg_in_transaction(
    connection: psycopg.AsyncConnection[Any] | psycopg.Connection[Any],
) -> bool:
    idle = connection.info.transaction_status == TransactionStatus.IDLE
    return not (connection.autocommit and idle)
