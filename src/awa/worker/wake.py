"""Sleeping until a queue has something to claim.

While a queue is *idle* here, the listener's session holds a lock that producers probe: only then do they
send a notification, because NOTIFY in every enqueue would serialise all commits of the server. A queue
stays idle at moderate load (a notification for each job is cheap there, and the fastest way to hear of
it). When claims keep finding work without a pause it turns *busy*: producers are left alone, and the loop
looks again after a nap.

Nothing depends on notifications. Without a listener, or behind a pooler that swallows them, an idle queue
looks by itself, first after `poll_min_s`, then less and less often up to `poll_max_s`.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

import psycopg

from awa.db.listener import Listener
from awa.model.errors import AwaError

# So many claims in a row that found work, without a wait between them, make a queue busy.
BUSY_AFTER_CLAIMS: Final = 8
# So many naps in a row that ended with nothing make it idle again.
IDLE_AFTER_NAPS: Final = 3
NAP_S: Final = 0.002

log = logging.getLogger("awa.worker")


class Wake:
    """The sleep of one queue."""

    def __init__(self, queue: str, poll_min_s: float, poll_max_s: float) -> None:
        self.queue = queue
        self.idle = False  # the listener's session holds this queue's lock
        self._listener: Listener | None = None
        self._signal = asyncio.Event()
        self._poll_min_s = poll_min_s
        self._poll_max_s = poll_max_s
        self._poll_s = poll_min_s
        self._streak = 0
        self._naps = 0

    def listen(self, listener: Listener | None) -> None:
        """A listener that hears is there, or is gone; with it went the lock."""
        self._listener = listener
        self.idle = False
        self.notify()

    def notify(self) -> None:
        """Something may have come: end the sleep, or don't begin the next one."""
        self._signal.set()

    def looking(self) -> None:
        """A claim begins: what is notified from now on counts for the next sleep."""
        self._signal.clear()

    def found(self) -> None:
        """The claim found work."""
        self._poll_s = self._poll_min_s
        self._naps = 0
        self._streak += 1

    async def sleep(self) -> None:
        """The claim left nothing behind: wait for more."""
        if self._signal.is_set():
            if self.idle and self._streak >= BUSY_AFTER_CLAIMS:
                await self._mark(idle=False)
            return
        self._streak = 0
        if self.idle or self._listener is None:
            await self._poll()
        elif self._naps < IDLE_AFTER_NAPS:
            self._naps += 1
            await self._wait(NAP_S)
        elif not await self._mark(idle=True):
            # Somebody else has the queue's lock: nobody will wake this loop, so it looks by itself.
            await self._poll()
        # Marked: back to the loop for one more look, what came before the lock was held told nobody.

    async def stay_busy(self) -> None:
        """The claim was full: leave the producers alone for as long as that goes on."""
        if self.idle and self._streak >= BUSY_AFTER_CLAIMS:
            await self._mark(idle=False)

    async def _poll(self) -> None:
        await self._wait(self._poll_s)
        self._poll_s = min(self._poll_s * 2, self._poll_max_s)

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._signal.wait()
        except TimeoutError:
            return
        self._poll_s = self._poll_min_s

    async def _mark(self, *, idle: bool) -> bool:
        """Change what producers are told; False if that can't be just now."""
        listener = self._listener
        if listener is None:
            return False
        statement = "worker/mark_idle" if idle else "worker/mark_busy"
        try:
            rows = await listener.execute(statement, {"queue": self.queue})
        except (AwaError, psycopg.Error) as problem:
            log.debug("marking queue %s failed: %s", self.queue, problem)
            listener.lost.set()  # a session in doubt is opened anew
            self.listen(None)
            return False
        if listener is not self._listener:
            return False  # it went meanwhile, and the lock with it
        marked = not idle or bool(rows[0]["marked"])
        self.idle = idle and marked
        if marked:
            self._naps = 0
        return marked
