"""Keeps the wake-up connection: opens it, makes sure that it hears, opens it again when it breaks.

Behind a pooler in transaction mode LISTEN succeeds and nothing is ever heard, so a fresh connection is
tested with a message of our own before anybody relies on it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final
from uuid import uuid4

import orjson
import psycopg

from awa.db import run
from awa.db.listener import Connect, Listener
from awa.db.pool import Pool, connection
from awa.events import runtime as events
from awa.model.errors import AwaError
from awa.worker.cancellation import read_control
from awa.worker.retry import Retry

HEARING_TIMEOUT_S: Final = 3.0
# How long to leave a connection alone that was opened but heard nothing: the first time a moment, since a server that has just
# come back may only be slow; a pooler that swallows notifications will still do so in a minute.
DEAF_PAUSE_S: Final = 1.0
DEAF_PAUSE_MAX_S: Final = 60.0

log = logging.getLogger("awa.worker")


class Listening:
    """Tells `on_ready(queue)`, `on_control(message)`, and `on_change(listener or None)`."""

    def __init__(
        self,
        connect: Connect,
        pool: Pool,
        *,
        on_ready: Callable[[str], None],
        on_control: Callable[[str], None],
        on_change: Callable[[Listener | None], None],
    ) -> None:
        self._pool = pool
        self._on_ready = on_ready
        self._on_control = on_control
        self._on_change = on_change
        self._listener = Listener(connect, self._heard)
        self._token = uuid4().hex
        self._own_voice = asyncio.Event()

    async def run(self) -> None:
        """Listen until cancelled."""
        retry = Retry("listening")
        pause_s = DEAF_PAUSE_S
        try:
            while True:
                try:
                    hears = await self._open()
                except (AwaError, psycopg.Error, OSError) as problem:
                    await self._listener.close()
                    await retry.after(problem)
                    continue
                retry.succeeded()
                if hears:
                    pause_s = DEAF_PAUSE_S
                    await self._listener.lost.wait()
                self._tell(None)
                await self._listener.close()
                if not hears:
                    log.warning("LISTEN hears nothing here (a pooler in between?), polling instead")
                    await asyncio.sleep(pause_s)
                    pause_s = min(pause_s * 4, DEAF_PAUSE_MAX_S)
        finally:
            await self._listener.close()

    async def _open(self) -> bool:
        """Connect, listen and find out whether a message arrives."""
        await self._listener.open("worker/listen")
        self._own_voice.clear()
        async with connection(self._pool) as conn:
            await run.rows(
                conn, "worker/ping", {"message": orjson.dumps({"ping": self._token}).decode()}
            )
        try:
            async with asyncio.timeout(HEARING_TIMEOUT_S):
                await self._own_voice.wait()
        except TimeoutError:
            return False
        self._tell(self._listener)
        return True

    def _tell(self, listener: Listener | None) -> None:
        events.listening(listener is not None)
        self._on_change(listener)

    def _heard(self, channel: str, payload: str) -> None:
        if channel == "awa_ready":
            self._on_ready(payload)
        elif read_control(payload).get("ping") == self._token:
            self._own_voice.set()
        else:
            self._on_control(payload)
