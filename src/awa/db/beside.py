"""Connections beside a pool: to the same database, with the same arguments, but in nobody else's hands.

Who keeps a promise with a clock (a heartbeat, the end of an attempt) can't wait until a user's handler gives
a connection back. So a worker has a small pool of its own, and its wake-up connection a session of its own.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

import psycopg
from psycopg_pool import AsyncConnectionPool

from awa.db.failures import mapped_errors
from awa.db.pool import Pool

# Both bound how long after an outage the first connection may come: the pool's own pause between two tries
# doubles without a bound until it gives up, and begins anew when it's asked again.
TIMEOUT_S: Final = 5.0
RECONNECT_TIMEOUT_S: Final = 5.0


def pool_like(pool: Pool, max_size: int) -> Pool:
    """A closed pool to where `pool` leads."""
    return AsyncConnectionPool(
        pool.conninfo,
        connection_class=pool.connection_class,
        kwargs=_autocommit(pool),
        min_size=1,
        max_size=max_size,
        timeout=TIMEOUT_S,
        reconnect_timeout=RECONNECT_TIMEOUT_S,
        open=False,
    )


async def connect_like(pool: Pool) -> psycopg.AsyncConnection[Any]:
    """One connection to where `pool` leads. Raises DatabaseError if there is none to be had."""
    conninfo, kwargs = await _made(pool.conninfo), await _made(_autocommit(pool))
    with mapped_errors():
        return await psycopg.AsyncConnection.connect(conninfo, **kwargs)


def _autocommit(pool: Pool) -> Any:
    """The pool's connection arguments; what makes them is kept, if they are made anew each time."""
    kwargs = pool.kwargs
    return kwargs if callable(kwargs) else {**(kwargs or {}), "autocommit": True}


async def _made(value: Any) -> Any:
    """A value, or what the function makes that stands for it."""
    made = value() if callable(value) else value
    return await made if inspect.isawaitable(made) else made
