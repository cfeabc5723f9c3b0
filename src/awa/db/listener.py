"""The wake-up connection: LISTEN on a connection of its own, outside of the pool.

A listener needs a session, and pool connections may have none (a pooler in transaction mode hands
them from one server session to the next). So this connection is opened beside the pool, and nothing
depends on it: while it's down, or hears nothing, its owner polls.

Between calls the event loop watches the socket, so a notification costs no polling and no thread.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import psycopg

from awa.db import run

Connect: TypeAlias = Callable[[], Awaitable[psycopg.AsyncConnection[Any]]]
OnNotify: TypeAlias = Callable[[str, str], None]


class Listener:
    """One connection that listens. `on_notify(channel, payload)` is called on the event loop."""

    def __init__(self, connect: Connect, on_notify: OnNotify) -> None:
        self._connect = connect
        self._on_notify = on_notify
        self._connection: psycopg.AsyncConnection[Any] | None = None
        self._watched: int | None = None
        self._one_call = asyncio.Lock()
        self.lost = asyncio.Event()

    @property
    def connected(self) -> bool:
        """The connection stands, as far as is known."""
        return self._connection is not None and not self.lost.is_set()

    async def open(self, statement: str) -> None:
        """Connect and run `statement` (the LISTENs). Raises psycopg.Error or AwaError."""
        connection = await self._connect()
        self.lost.clear()
        self._connection = connection
        connection.add_notify_handler(lambda n: self._on_notify(n.channel, n.payload))
        try:
            await self.execute(statement)
        except BaseException:
            await self.close()
            raise

    async def execute(
        self, statement: str, params: Mapping[str, Any] | None = None
    ) -> list[run.Row]:
        """Run a statement of the catalog in the listener's session; answers its rows."""
        async with self._one_call:
            connection = self._connection
            if connection is None:
                raise psycopg.OperationalError("the wake-up connection is closed")
            self._unwatch()
            try:
                rows = await run.rows(connection, statement, params)
            except BaseException:
                self._check(connection)
                raise
            self._deliver(connection)
            self._watch(connection)
            return rows

    async def close(self) -> None:
        """Close the connection; the session and its locks end with it."""
        self._unwatch()
        connection, self._connection = self._connection, None
        self.lost.set()
        if connection is not None:
            with contextlib.suppress(psycopg.Error):
                await connection.close()

    def _watch(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._watched = connection.fileno()
        asyncio.get_running_loop().add_reader(self._watched, self._readable, connection)

    def _unwatch(self) -> None:
        if self._watched is not None:
            asyncio.get_running_loop().remove_reader(self._watched)
            self._watched = None

    def _readable(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Something came on the socket: notifications, or its end."""
        try:
            connection.pgconn.consume_input()
        except psycopg.Error:
            self._unwatch()
            self.lost.set()
            return
        self._deliver(connection)
        self._check(connection)

    def _deliver(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Hand on what libpq has read, but psycopg has not asked for."""
        while (heard := connection.pgconn.notifies()) is not None:
            self._on_notify(heard.relname.decode(), heard.extra.decode())

    def _check(self, connection: psycopg.AsyncConnection[Any]) -> None:
        if connection.closed or connection.broken:
            self._unwatch()
            self.lost.set()
