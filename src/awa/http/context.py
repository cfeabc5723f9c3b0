"""What a request can reach: the pool, the access rules, the settings. Nothing here is global."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import psycopg
from fastapi import Request
from psycopg_pool import PoolTimeout

from awa.config import Settings
from awa.db import run
from awa.db.failures import is_lost_connection, mapped_errors
from awa.db.pool import Pool
from awa.db.run import Connection
from awa.http.access import Access
from awa.http.tokens import Actor
from awa.model.errors import AwaError

CONNECTION_WAIT_S = 5.0
STATEMENT_MAX_MS = 30_000
LOCK_WAIT_MAX_MS = 5_000
IDLE_IN_TRANSACTION_MAX_MS = 10_000


@dataclass(slots=True)
class Served:
    """What the app serves."""

    pool: Pool
    access: Access
    settings: Settings


def served(request: Request) -> Served:
    """The context of the app that this request came to."""
    context = request.app.state.served
    assert isinstance(context, Served)
    return context


def actor_of(request: Request) -> Actor:
    """Who was let in."""
    actor = request.state.actor
    assert isinstance(actor, Actor)
    return actor


@asynccontextmanager
async def reading(request: Request) -> AsyncIterator[Connection]:
    """A transaction in which the database itself refuses every change."""
    async with _transaction(served(request).pool, read_only=True) as conn:
        yield conn


@asynccontextmanager
async def changing(request: Request) -> AsyncIterator[Connection]:
    """A transaction that commits when the block ends without an error."""
    async with _transaction(served(request).pool, read_only=False) as conn:
        yield conn


@asynccontextmanager
async def _transaction(pool: Pool, *, read_only: bool) -> AsyncIterator[Connection]:
    with mapped_errors():
        async with AsyncExitStack() as stack:
            yield await _begin(pool, stack, read_only)


async def _begin(pool: Pool, stack: AsyncExitStack, read_only: bool) -> Connection:
    """Begin on a connection that answers. One that died in the pool is noticed here, and costs no request."""
    bounds = {
        "read_only": "on" if read_only else None,
        "statement_ms": STATEMENT_MAX_MS,
        "lock_ms": LOCK_WAIT_MAX_MS,
        "idle_ms": IDLE_IN_TRANSACTION_MAX_MS,
    }
    for tries_left in reversed(range(pool.max_size + 1)):
        try:
            async with AsyncExitStack() as attempt:
                conn = await attempt.enter_async_context(pool.connection(CONNECTION_WAIT_S))
                await attempt.enter_async_context(conn.transaction())
                await run.row(conn, "api/bound", bounds)
                await stack.enter_async_context(attempt.pop_all())
                return conn
        except PoolTimeout:
            raise
        except (AwaError, psycopg.Error) as problem:
            if not (tries_left and is_lost_connection(problem)):
                raise
    raise AssertionError("the last try returns or raises")
