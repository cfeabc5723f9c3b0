"""What a request can reach: the pool, the access rules, the settings. Nothing here is global.

A pool of our own is opened by whoever needs it first. Alone, the application opens it as it starts; mounted into
another application it is never told that it starts, since only the outermost one is.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import psycopg
from fastapi import Request
from psycopg_pool import PoolTimeout

from awa.config import Settings
from awa.db import run
from awa.db.failures import is_lost_connection, mapped_errors
from awa.db.pool import Pool
from awa.db.run import Connection
from awa.http.access import Access
from awa.http.ended import Ended
from awa.http.live import Live
from awa.http.recent import Recent
from awa.http.throttle import Throttle
from awa.http.tokens import Actor
from awa.model.errors import AwaError

CONNECTION_WAIT_S = 5.0
STATEMENT_MAX_MS = 30_000
LOCK_WAIT_MAX_MS = 5_000
IDLE_IN_TRANSACTION_MAX_MS = 10_000


@dataclass(slots=True)
class Served:
    """What the app serves. `make_pool` makes the pool if it is the app's own."""

    access: Access
    settings: Settings
    given_pool: Pool | None = None
    make_pool: Callable[[], Pool] | None = None
    live: Live = field(default_factory=Live)
    recent: Recent = field(default_factory=Recent)
    throttle: Throttle = field(default_factory=Throttle)
    ended: Ended = field(default_factory=Ended)
    _own: Pool | None = None
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def pool(self) -> Pool:
        """The pool, opened. It isn't waited for: without its database the server starts as well, and says so."""
        if self.given_pool is not None:
            return self.given_pool
        assert self.make_pool is not None, "a pool is given, or a way to make one"
        async with self._opening:
            if self._own is None:
                own = self.make_pool()
                await own.open(wait=False)
                self._own = own
        return self._own

    async def close(self) -> None:
        """End the live streams, and close the pool if it is our own. What comes later opens another."""
        ending, self.live = self.live, Live()
        await ending.close()
        await self.ended.close()
        own, self._own = self._own, None
        if own is not None:
            await own.close()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Connection]:
        """A transaction in which the database itself refuses every change."""
        async with _transaction(await self.pool(), read_only=True) as conn:
            yield conn

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[Connection]:
        """A transaction that commits when the block ends without an error."""
        async with _transaction(await self.pool(), read_only=False) as conn:
            yield conn


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


def with_actor(request: Request, reason: str | None) -> str:
    """A reason that says who gave it, for what is kept as a text alone, such as the error of a cancelled job."""
    name = actor_of(request).name
    return f"cancelled by {name}" if reason is None else f"{reason} (cancelled by {name})"


@asynccontextmanager
async def reading(request: Request) -> AsyncIterator[Connection]:
    """A transaction in which the database itself refuses every change."""
    async with served(request).reading() as conn:
        yield conn


@asynccontextmanager
async def changing(request: Request) -> AsyncIterator[Connection]:
    """A transaction that commits when the block ends without an error."""
    async with served(request).changing() as conn:
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
