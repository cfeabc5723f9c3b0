"""SQLAlchemy: sessions and connections, blocking and async.

Statements go through SQLAlchemy and not around it, so that it begins its transaction as for any other statement, and
so that its events and logs show them.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from awa.bridge.speaker import Answer, Params, Speaker, Statement, as_psycopg
from awa.bridge.statements import named, numbered
from awa.model.errors import invalid_field

DRIVERS: Final = ("psycopg", "psycopg_async", "asyncpg", "psycopg2")


class Alchemy:
    """A blocking Connection, or the one of a Session."""

    blocking = True

    def __init__(self, given: Any) -> None:
        self._given = given

    async def run(self, statement: Statement, params: Params, *, binary: bool) -> Answer:
        from sqlalchemy.exc import DBAPIError

        connection = self._connection()
        text, values = _spoken(connection, statement, params)
        with as_psycopg(DBAPIError):
            return _answer(connection.exec_driver_sql(text, values))

    async def in_transaction(self) -> bool:
        return not _commits_at_once(self._connection())

    def _connection(self) -> Any:
        given = self._given
        return _checked(given if _is_connection(given) else given.connection())


class AsyncAlchemy:
    """An AsyncConnection, or the one of an AsyncSession."""

    blocking = False

    def __init__(self, given: Any) -> None:
        self._given = given

    async def run(self, statement: Statement, params: Params, *, binary: bool) -> Answer:
        from sqlalchemy.exc import DBAPIError

        connection = await self._connection()
        text, values = _spoken(connection, statement, params)
        with as_psycopg(DBAPIError):
            return _answer(await connection.exec_driver_sql(text, values))

    async def in_transaction(self) -> bool:
        connection = await self._connection()
        return not await connection.run_sync(_commits_at_once)

    async def _connection(self) -> Any:
        given = self._given
        return _checked(given if _is_connection(given) else await given.connection())


def find(given: Any) -> Speaker | None:
    """The speaker for a session or connection of SQLAlchemy; None if it's something else."""
    engine: Any = sys.modules.get("sqlalchemy.engine")
    if engine is not None and isinstance(given, engine.Connection):
        return Alchemy(given)
    orm: Any = sys.modules.get("sqlalchemy.orm")
    if orm is not None:
        if isinstance(given, orm.scoped_session):
            given = given.registry()
        if isinstance(given, orm.Session):
            return Alchemy(given)
    aio: Any = sys.modules.get("sqlalchemy.ext.asyncio")
    if aio is not None:
        if isinstance(given, aio.async_scoped_session):
            given = given.registry()
        if isinstance(given, aio.AsyncSession | aio.AsyncConnection):
            return AsyncAlchemy(given)
    return None


def _checked(connection: Any) -> Any:
    """The connection, if it's to PostgreSQL by a driver that is known here."""
    dialect = connection.dialect
    if dialect.name != "postgresql" or dialect.driver not in DRIVERS:
        raise invalid_field(
            "connection",
            f"SQLAlchemy speaks to {dialect.name} by {dialect.driver} here",
            hint="jobs are in PostgreSQL, by psycopg, asyncpg or psycopg2: create_engine('postgresql+psycopg://…')",
        )
    return connection


def _spoken(connection: Any, statement: Statement, params: Params) -> tuple[str, Any]:
    """The statement as the connection's driver wants it."""
    by_number = connection.dialect.driver == "asyncpg"
    return numbered(statement, params) if by_number else named(statement, params)


def _is_connection(given: Any) -> bool:
    return hasattr(given, "exec_driver_sql")


def _commits_at_once(connection: Any) -> bool:
    """Whether the isolation level is AUTOCOMMIT; with every other SQLAlchemy begins a transaction by itself."""
    return bool(connection.connection.dbapi_connection.autocommit)


def _answer(result: Any) -> Answer:
    if not result.returns_rows:
        return Answer((), ())
    return Answer(list(result.keys()), result.fetchall())
