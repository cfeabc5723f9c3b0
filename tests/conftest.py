"""A real PostgreSQL for every test: one server a run, a database a test.

Without further ado the run starts an embedded server. `AWA_TEST_PG_BIN` names the bin folder of another PostgreSQL to
start, `AWA_TEST_DATABASE_URL` a server that runs already and where the user may create databases. The migrations run
once, in a template; each test gets a copy of it. `AWA_TEST_STORAGE=canonical` has them make the other storage: the
same tests must pass, but for those marked `lanes`, which look at what only lanes have.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from psycopg import AsyncConnection, sql

from awa.dev.binaries import PostgresBinaries, binaries_in
from awa.dev.postgres import Server
from awa.dev.temporary import memory_base, temporary_server
from awa.sql.catalog import Storage

Connect = Callable[..., Awaitable[AsyncConnection[Any]]]

TEST_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "128MB",
    "max_connections": "300",
    "max_prepared_transactions": "20",
}

# The storage that the tests of this run find in their databases.
STORAGE: Storage = "canonical" if os.environ.get("AWA_TEST_STORAGE") == "canonical" else "lanes"

_numbers = count(1)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only the other storage has."""
    (other,) = {"lanes", "canonical"} - {STORAGE}
    kept = [item for item in items if item.get_closest_marker(other) is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


@pytest.fixture(autouse=True)
def _no_database_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may reach the database that somebody's shell points to."""
    for name in ("AWA_DATABASE_URL", "DATABASE_URL", "PGHOST", "PGDATABASE", "PGUSER", "PGPORT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def pg_binaries() -> PostgresBinaries | None:
    """The PostgreSQL to start servers from; None takes the first that is found."""
    folder = os.environ.get("AWA_TEST_PG_BIN")
    return binaries_in(Path(folder)) if folder else None


@pytest.fixture(scope="session")
def server_url(pg_binaries: PostgresBinaries | None) -> Iterator[str]:
    """The server of this run, as superuser. Leave it running: `own_server` is for tests that stop or kill one."""
    with ExitStack() as stack:
        url = os.environ.get("AWA_TEST_DATABASE_URL")
        if url is None:
            server = temporary_server(
                settings=TEST_SETTINGS, binaries=pg_binaries, base=memory_base()
            )
            url = stack.enter_context(server).url()
        yield url


@pytest.fixture(scope="session")
def server_version(server_url: str) -> int:
    """The major version of the server of this run."""
    with psycopg.connect(server_url) as conn:
        return conn.info.server_version // 10_000


@pytest.fixture(scope="session")
def template(server_url: str) -> Iterator[str]:
    """The name of a database with all migrations and nothing else."""
    with _database(server_url, "template0") as name:
        asyncio.run(_migrate(_url_of(server_url, name)))
        yield name


@pytest.fixture
def database_url(server_url: str, template: str) -> Iterator[str]:
    """A migrated database of this test alone."""
    with _database(server_url, template) as name:
        yield _url_of(server_url, name)


@pytest.fixture
def empty_database_url(server_url: str) -> Iterator[str]:
    """A database of this test alone in which no migration has run."""
    with _database(server_url, "template0") as name:
        yield _url_of(server_url, name)


@pytest.fixture
async def connect(database_url: str) -> AsyncIterator[Connect]:
    """Opens connections to this test's database, autocommit unless told otherwise; closed after the test."""
    opened: list[AsyncConnection[Any]] = []

    async def open_one(*, autocommit: bool = True, **params: Any) -> AsyncConnection[Any]:
        opened.append(await AsyncConnection.connect(database_url, autocommit=autocommit, **params))
        return opened[-1]

    yield open_one
    for conn in opened:
        await conn.close()


@pytest.fixture
async def conn(connect: Connect) -> AsyncConnection[Any]:
    """One autocommit connection to this test's database."""
    return await connect()


@pytest.fixture
def own_server(pg_binaries: PostgresBinaries | None) -> Iterator[Server]:
    """A server of this test alone, empty, to be stopped, killed and restarted."""
    with temporary_server(
        settings=TEST_SETTINGS, binaries=pg_binaries, base=memory_base()
    ) as server:
        yield server


@contextmanager
def _database(server_url: str, template: str) -> Iterator[str]:
    name = f"awa_test_{os.getpid()}_{next(_numbers)}"
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
    with psycopg.connect(server_url, autocommit=True) as admin:
        admin.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
    try:
        yield name
    finally:
        with psycopg.connect(server_url, autocommit=True) as admin:
            admin.execute(drop.format(sql.Identifier(name)))


def _url_of(server_url: str, dbname: str) -> str:
    parts = urlsplit(server_url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}/{quote(dbname)}{query}"


async def _migrate(url: str) -> None:
    from awa.db.migrate import migrate

    async with await AsyncConnection.connect(url, autocommit=True) as conn:
        await migrate(conn, STORAGE)
