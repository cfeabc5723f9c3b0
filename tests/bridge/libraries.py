"""The libraries that a bridge leads to, each as a transaction that a program has open.

The tests are written once and run with each of them, on the real library and the real server.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from typing import Any, NamedTuple

import asyncpg
import psycopg
import psycopg2
from django.db import transaction as django_transaction
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import (
    AsyncSession,
    async_scoped_session,
    async_sessionmaker,
    create_async_engine,
)
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from tests import django_site


class Opened(NamedTuple):
    """An open transaction of an async library."""

    connection: Any
    execute: Callable[[str], Awaitable[Any]]
    commit: Callable[[], Awaitable[Any]]
    rollback: Callable[[], Awaitable[Any]]


class Blocked(NamedTuple):
    """An open transaction of a blocking library."""

    connection: Any
    execute: Callable[[str], Any]
    commit: Callable[[], Any]
    rollback: Callable[[], Any]


Open = Callable[[str], AbstractAsyncContextManager[Opened]]
OpenBlocking = Callable[[str], AbstractContextManager[Blocked]]


def alchemy_url(url: str, driver: str) -> str:
    return url.replace("postgresql://", f"postgresql+{driver}://")


@asynccontextmanager
async def psycopg_connection(url: str) -> AsyncIterator[Opened]:
    async with await psycopg.AsyncConnection.connect(
        url, row_factory=dict_row, cursor_factory=psycopg.AsyncRawCursor
    ) as conn:
        yield Opened(conn, conn.execute, conn.commit, conn.rollback)


@asynccontextmanager
async def psycopg_cursor(url: str) -> AsyncIterator[Opened]:
    async with (
        AsyncConnectionPool(url, min_size=1, max_size=1, open=False) as pool,
        pool.connection() as conn,
    ):
        cursor = conn.cursor()
        yield Opened(cursor, cursor.execute, conn.commit, conn.rollback)


@asynccontextmanager
async def asyncpg_connection(url: str) -> AsyncIterator[Opened]:
    conn = await asyncpg.connect(url)
    transaction = conn.transaction()
    await transaction.start()
    yield Opened(conn, conn.execute, transaction.commit, transaction.rollback)
    await conn.close()


@asynccontextmanager
async def asyncpg_pool(url: str) -> AsyncIterator[Opened]:
    """With JSON codecs of the program's own, as many programs set them."""
    import json

    async def codecs(conn: Any) -> None:
        for name in ("json", "jsonb"):
            await conn.set_type_codec(
                name, encoder=json.dumps, decoder=json.loads, schema="pg_catalog"
            )

    async with (
        asyncpg.create_pool(url, min_size=1, max_size=1, init=codecs) as pool,
        pool.acquire() as conn,
    ):
        transaction = conn.transaction()
        await transaction.start()
        yield Opened(conn, conn.execute, transaction.commit, transaction.rollback)


def alchemy_session(driver: str) -> Open:
    @asynccontextmanager
    async def open_one(url: str) -> AsyncIterator[Opened]:
        engine = create_async_engine(alchemy_url(url, driver))
        async with AsyncSession(engine) as session:
            yield Opened(
                session, lambda sql: session.execute(text(sql)), session.commit, session.rollback
            )
        await engine.dispose()

    return open_one


@asynccontextmanager
async def alchemy_scoped(url: str) -> AsyncIterator[Opened]:
    engine = create_async_engine(alchemy_url(url, "psycopg"))
    session = async_scoped_session(async_sessionmaker(engine), scopefunc=lambda: 1)
    yield Opened(session, lambda sql: session.execute(text(sql)), session.commit, session.rollback)
    await session.remove()
    await engine.dispose()


def alchemy_connection(driver: str) -> Open:
    @asynccontextmanager
    async def open_one(url: str) -> AsyncIterator[Opened]:
        engine = create_async_engine(alchemy_url(url, driver))
        async with engine.connect() as conn:
            yield Opened(conn, lambda sql: conn.execute(text(sql)), conn.commit, conn.rollback)
        await engine.dispose()

    return open_one


@contextmanager
def blocking_psycopg(url: str) -> Iterator[Blocked]:
    with psycopg.connect(url, cursor_factory=psycopg.ClientCursor) as conn:
        yield Blocked(conn, conn.execute, conn.commit, conn.rollback)


@contextmanager
def blocking_psycopg2(url: str) -> Iterator[Blocked]:
    conn = psycopg2.connect(url)
    cursor = conn.cursor()
    yield Blocked(conn, cursor.execute, conn.commit, conn.rollback)
    conn.close()


def blocking_session(driver: str) -> OpenBlocking:
    @contextmanager
    def open_one(url: str) -> Iterator[Blocked]:
        engine = create_engine(alchemy_url(url, driver))
        with Session(engine) as session:
            yield Blocked(
                session, lambda sql: session.execute(text(sql)), session.commit, session.rollback
            )
        engine.dispose()

    return open_one


@contextmanager
def blocking_scoped(url: str) -> Iterator[Blocked]:
    engine = create_engine(alchemy_url(url, "psycopg"))
    session = scoped_session(sessionmaker(engine))
    yield Blocked(session, lambda sql: session.execute(text(sql)), session.commit, session.rollback)
    session.remove()
    engine.dispose()


@contextmanager
def blocking_connection(url: str) -> Iterator[Blocked]:
    engine = create_engine(alchemy_url(url, "psycopg"))
    with engine.connect() as conn:
        yield Blocked(conn, lambda sql: conn.execute(text(sql)), conn.commit, conn.rollback)
    engine.dispose()


@contextmanager
def django_atomic(url: str) -> Iterator[Blocked]:
    """A block of `transaction.atomic`, left by hand."""
    with django_site.on_database(url) as connection:
        block = django_transaction.atomic()
        block.__enter__()

        def execute(sql: str) -> None:
            with connection.cursor() as cursor:
                cursor.execute(sql)

        def commit() -> None:
            block.__exit__(None, None, None)

        def rollback() -> None:
            block.__exit__(ZeroDivisionError, ZeroDivisionError(), None)

        yield Blocked(connection, execute, commit, rollback)


@contextmanager
def django_by_alias(url: str) -> Iterator[Blocked]:
    """One of `connections`, with autocommit off."""
    from django.db import connections

    with django_site.on_database(url):
        connection = connections["default"]
        connection.set_autocommit(False)

        def execute(sql: str) -> None:
            with connection.cursor() as cursor:
                cursor.execute(sql)

        yield Blocked(connection, execute, connection.commit, connection.rollback)


ASYNC: dict[str, Open] = {
    "psycopg": psycopg_connection,
    "psycopg cursor": psycopg_cursor,
    "asyncpg": asyncpg_connection,
    "asyncpg pool": asyncpg_pool,
    "AsyncSession psycopg": alchemy_session("psycopg"),
    "AsyncSession asyncpg": alchemy_session("asyncpg"),
    "async_scoped_session": alchemy_scoped,
    "AsyncConnection psycopg": alchemy_connection("psycopg"),
    "AsyncConnection asyncpg": alchemy_connection("asyncpg"),
}

BLOCKING: dict[str, OpenBlocking] = {
    "psycopg": blocking_psycopg,
    "psycopg2": blocking_psycopg2,
    "Session psycopg": blocking_session("psycopg"),
    "Session psycopg2": blocking_session("psycopg2"),
    "scoped_session": blocking_scoped,
    "Connection": blocking_connection,
    "Django": django_atomic,
    "Django by alias": django_by_alias,
}
