"""A real PostgreSQL for every test: one server a run, a database a test.

Without further ado the run starts an embedded server. `AWA_TEST_PG_BIN` names the bin folder of another PostgreSQL to
start, `AWA_TEST_DATABASE_URL` a server that runs already and where the user may create databases. The migrations run
once, in a template; each test gets a copy of it. `AWA_TEST_STORAGE=canonical` has them make the other storage: the
same tests must pass, but for those marked `lanes`, which look at what only lanes have.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from hypothesis import HealthCheck, settings
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
    # It comes when it likes: then a prune finds its slot busy, a key its table locked, and a statement another plan.
    "autovacuum": "off",
}

# Bounds of the product on what others are made to wait for. Where they are reached, less is told or nothing is done.
PATIENCE = {
    "awa.api.app.CONNECTION_WAIT_S": 60.0,
    "awa.http.context.CONNECTION_WAIT_S": 60.0,
    "awa.http.context.LOCK_WAIT_MAX_MS": 60_000,
    "awa.http.context.STATEMENT_MAX_MS": 60_000,
    "awa.http.context.IDLE_IN_TRANSACTION_MAX_MS": 60_000,
    "awa.operations.fence.STATEMENT_MAX_MS": 60_000,
    "awa.operations.fence.LOCK_WAIT_MAX_MS": 60_000,
    "awa.operations.fence.IDLE_IN_TRANSACTION_MAX_MS": 60_000,
    "awa.operations.preview.INELIGIBLE_MAX_MS": 60_000,
    "awa.operations.reading.bounds.LOOK_MAX_MS": 60_000,
    "awa.operations.reading.counting.COMPLETED_WALK_S": 60.0,
    "awa.operations.reading.walk.WALK_BUDGET_S": 60.0,
    "awa.operations.single.LOCKED_TIMEOUT_S": 60.0,
    "awa.web.checking.CHECK_MAX_MS": 60_000,
    "awa.worker.gate.EMPTYING_TIMEOUT_S": 60.0,
    "awa.worker.listening.HEARING_TIMEOUT_S": 60.0,
    "awa.worker.runtime.UNWIND_S": 60.0,
    "awa.worker.runtime.LAST_WORDS_S": 60.0,
}

# The storage that the tests of this run find in their databases.
STORAGE: Storage = "canonical" if os.environ.get("AWA_TEST_STORAGE") == "canonical" else "lanes"

# The same examples in each run, and none that is too slow: `make soak` is for others.
settings.register_profile(
    "suite",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")

_numbers = count(1)


def pytest_configure() -> None:
    """A run in the background is deaf to Ctrl-C, and so would be every program that a test starts and interrupts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only the other storage has."""
    (other,) = {"lanes", "canonical"} - {STORAGE}
    kept = [item for item in items if item.get_closest_marker(other) is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is answered must not depend on the speed of the machine; tests of these bounds set their own."""
    for name, patience in PATIENCE.items():
        monkeypatch.setattr(name, patience)


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
    _when_nobody_is_there(server_url, create.format(sql.Identifier(name), sql.Identifier(template)))
    try:
        yield name
    finally:
        _when_nobody_is_there(server_url, drop.format(sql.Identifier(name)))


def _when_nobody_is_there(server_url: str, statement: sql.Composed) -> None:
    """Sessions that are over, or were told to end, need a moment; the server waits no more than five seconds for them."""
    with psycopg.connect(server_url, autocommit=True) as admin:
        while True:
            try:
                admin.execute(statement)
            except psycopg.errors.ObjectInUse:
                continue
            return


def _url_of(server_url: str, dbname: str) -> str:
    parts = urlsplit(server_url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}/{quote(dbname)}{query}"


async def _migrate(url: str) -> None:
    from awa.db.migrate import migrate

    async with await AsyncConnection.connect(url, autocommit=True) as conn:
        await migrate(conn, STORAGE)
