"""The pool of connections, fit for a transaction-mode pooler in front of the server.

Connections are in autocommit mode and carry no session state. Statements are prepared by the driver only when
the caller says that no pooler stands between.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool

from awa.db.failures import mapped_errors, translate
from awa.model import exact
from awa.model.errors import ValidationError

CONNECT_TIMEOUT_S = 10.0
POOL_TIMEOUT_S = 30.0
# The pool waits twice as long after each failed attempt; starting anew keeps it quick to see the server again.
RECONNECT_TIMEOUT_S = 10.0

# A network that drops packets without a word is noticed after about half a minute, not after the system's two hours.
SILENT_NETWORK = {
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "tcp_user_timeout": "30000",
}

Pool = AsyncConnectionPool[psycopg.AsyncConnection[Any]]


def connection_string(url: str, *, application_name: str = "awa") -> str:
    """`url` with a time limit for connecting and a name that `pg_stat_activity` shows.

    Raises `ValidationError` for a URL that the driver can't read; the message doesn't repeat it.
    """
    try:
        given: dict[str, Any] = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise ValidationError(
            "the database URL can't be read",
            hint="It looks like postgresql://user:password@host:5432/database",
        ) from error
    given.setdefault("connect_timeout", str(int(CONNECT_TIMEOUT_S)))
    given.setdefault("application_name", application_name)
    for name, value in SILENT_NETWORK.items():
        given.setdefault(name, value)
    return make_conninfo(**given)


async def connect(url: str, *, application_name: str = "awa") -> psycopg.AsyncConnection[Any]:
    """One connection in autocommit mode. Raises `DatabaseError` if there is none to be had."""
    with mapped_errors():
        return await psycopg.AsyncConnection.connect(
            connection_string(url, application_name=application_name),
            autocommit=True,
            prepare_threshold=None,
        )


def make_pool(
    url: str,
    *,
    min_size: int = 1,
    max_size: int = 10,
    timeout_s: float = POOL_TIMEOUT_S,
    prepare: bool = False,
    application_name: str = "awa",
) -> Pool:
    """A closed pool; open it with `open_pool` or `pool.open()`.

    `prepare` lets the driver prepare statements; leave it off behind a transaction-mode pooler.
    """
    return AsyncConnectionPool(
        connection_string(url, application_name=application_name),
        min_size=min_size,
        max_size=max_size,
        timeout=timeout_s,
        reconnect_timeout=RECONNECT_TIMEOUT_S,
        open=False,
        kwargs={"autocommit": True, "prepare_threshold": 5 if prepare else None},
        configure=_configure,
    )


async def _configure(conn: psycopg.AsyncConnection[Any]) -> None:
    set_json_loads(_document, conn)
    set_json_dumps(orjson.dumps, conn)


def _document(text: str | bytes) -> Any:
    """A JSON document, the fast way; one that goes beyond that is no reason to break the list it stands in.

    PostgreSQL keeps numbers beyond a float's range (read as infinite) and documents too deep to be parsed (left as text).
    """
    try:
        return exact.loads(text)
    except orjson.JSONDecodeError:
        try:
            return json.loads(text)
        except RecursionError:
            return text if isinstance(text, str) else text.decode()


@asynccontextmanager
async def open_pool(
    url: str,
    *,
    min_size: int = 1,
    max_size: int = 10,
    timeout_s: float = POOL_TIMEOUT_S,
    prepare: bool = False,
) -> AsyncIterator[Pool]:
    """A pool that has reached the server once; a failure is the server's own, not a time-out of the pool."""
    pool = make_pool(
        url, min_size=min_size, max_size=max_size, timeout_s=timeout_s, prepare=prepare
    )
    async with await connect(url):
        pass
    try:
        await pool.open()
        yield pool
    finally:
        await pool.close()


@asynccontextmanager
async def connection(pool: Pool) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    """A connection of the pool, its failures said as this library's errors.

    Before Python 3.12 a cancellation that comes in the moment in which the pool hands the connection over is lost
    (`asyncio.wait_for`), and a task that nobody can end any more goes on. So it is asked for here.
    """
    task = asyncio.current_task()
    requests = task.cancelling() if task is not None else 0
    try:
        async with pool.connection() as conn:
            if task is not None and task.cancelling() > requests:
                raise asyncio.CancelledError
            yield conn
    except psycopg.Error as error:
        raise translate(error) from error
