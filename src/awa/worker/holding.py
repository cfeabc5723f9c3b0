"""The wait of a loop whose claims a limit cuts: nothing more may begin now, however much waits.

A rate says when there will be room. What runs elsewhere ends without telling, so then the loop looks by itself, less
and less often; an attempt that ends here ends the wait at once.
"""

from __future__ import annotations

import asyncio
import random
from typing import Final

from awa.storage.claim import Held

# Somebody may have changed the limit meanwhile.
LONGEST_S: Final = 5.0


class Holding:
    """The waits of one queue's loop. `stopping` ends each of them."""

    __slots__ = ("_eased", "_poll_max_s", "_poll_min_s", "_poll_s", "_stopping")

    def __init__(self, poll_min_s: float, poll_max_s: float, stopping: asyncio.Event) -> None:
        self._poll_min_s = poll_min_s
        self._poll_max_s = poll_max_s
        self._poll_s = poll_min_s
        self._eased = asyncio.Event()
        self._stopping = stopping

    def looking(self) -> None:
        """A claim begins: what ends from now on counts for the next wait."""
        self._eased.clear()

    def eased(self) -> None:
        """Attempts of the queue have ended, and the database knows."""
        self._eased.set()

    async def wait(self, held: Held, *, served: bool) -> None:
        """Wait until it's worth asking again."""
        if held.again_s is not None:
            await self.rest(held.again_s * random.uniform(1.0, 1.1))
            return
        if served:
            self._poll_s = self._poll_min_s
        if await _happens(self._eased, self._poll_s * random.uniform(0.7, 1.0)):
            self._poll_s = self._poll_min_s
        else:
            self._poll_s = min(self._poll_s * 2, self._poll_max_s)

    async def rest(self, seconds: float) -> None:
        """Wait so long; `stopping` ends it."""
        await _happens(self._stopping, min(seconds, LONGEST_S))


async def _happens(event: asyncio.Event, within_s: float) -> bool:
    try:
        async with asyncio.timeout(within_s):
            await event.wait()
    except TimeoutError:
        return False
    return True
