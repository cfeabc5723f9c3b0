"""Waiting between two tries of a database call: longer and longer, never in step with others."""

from __future__ import annotations

import asyncio
import random
from typing import Final

from awa.events import runtime as events

FIRST_S: Final = 0.05
LONGEST_S: Final = 5.0


class Retry:
    """The waits of one call until it succeeds."""

    __slots__ = ("_call", "_next_s")

    def __init__(self, call: str) -> None:
        self._call = call
        self._next_s = FIRST_S

    async def after(self, problem: BaseException, stop: asyncio.Event | None = None) -> None:
        """Tell what failed and wait; a set `stop` ends the wait."""
        wait_s = self._next_s * random.uniform(0.5, 1.0)
        self._next_s = min(self._next_s * 2, LONGEST_S)
        events.trouble(self._call, problem, wait_s)
        if stop is None:
            await asyncio.sleep(wait_s)
            return
        try:
            async with asyncio.timeout(wait_s):
                await stop.wait()
        except TimeoutError:
            pass

    def succeeded(self) -> None:
        """The next failure begins with the shortest wait again."""
        self._next_s = FIRST_S
