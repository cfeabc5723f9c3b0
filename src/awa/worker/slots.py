"""How many attempts of a queue this worker may hold, and how many it holds.

Beyond one for each handler that may run, a few are claimed ahead, so that handlers don't stand still
while a claim is on its way: as many as end during one claim, going by the rate of late. Where jobs take
long that is none at all, so no job waits here while another worker could run it. With one slot nothing is
claimed ahead either: whoever runs one job at a time wants them in order, and what is handed back goes to the
end of its lane. Nor is anything claimed ahead where a limit counts what is claimed, or where queues share slots.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final

from awa.worker.sharing import Shared

CLAIM_MAX_JOBS: Final = 2_000
# When more jobs wait than there is room for, a claim waits this long for a little more room.
LINGER_S: Final = 0.002
# How often a full queue looks whether what it claimed ahead waits too long.
FULL_LOOK_S: Final = 0.5
_MEMORY: Final = 0.7  # weight of the past in the averages
_NOBODY_WAITS: Final = 1 << 62


class Slots:
    """The slots of one queue."""

    __slots__ = (
        "_ended",
        "_ended_at_s",
        "_freed",
        "_rate_hz",
        "_shared",
        "_wanted",
        "ahead",
        "asked",
        "goes_ahead",
        "held",
        "least",
        "limit",
        "round_trip_s",
        "turn",
        "wants",
        "weight",
    )

    def __init__(
        self, limit: int, shared: Shared | None = None, *, weight: int = 1, least: int = 0
    ) -> None:
        self.limit = limit
        self.weight = weight
        self.least = least
        self.wants = False  # as far as is known there is more to do
        self.turn = 0.0  # what it had so far, by its weight
        self.asked = 0  # by a claim that is on its way
        self.goes_ahead = shared is None
        self._shared = shared
        if shared is not None:
            shared.queues.append(self)
        self.held = 0
        self.ahead = 0
        self.round_trip_s = 0.005
        self._rate_hz = 0.0
        self._ended = 0
        self._ended_at_s = monotonic()
        self._wanted = _NOBODY_WAITS
        self._freed = asyncio.Event()

    @property
    def room(self) -> int:
        """How many may be claimed now."""
        room = min(self.limit + self.ahead - self.held, CLAIM_MAX_JOBS)
        return room if self._shared is None else min(room, self._shared.room(self))

    @property
    def used(self) -> int:
        """Held, or asked for."""
        return self.held + self.asked

    def ask(self, attempts: int) -> None:
        """A claim of so many is on its way; 0: it came back."""
        if self._shared is not None:
            change, self.asked = attempts - self.asked, attempts
            self._shared.changed(change)

    def take(self, attempts: int) -> None:
        """So many were claimed."""
        self.held += attempts
        if self._shared is not None:
            self.turn += attempts / self.weight
            self._shared.changed(attempts)

    def free(self, attempts: int = 1) -> None:
        """So many are over here."""
        self.held -= attempts
        self._ended += attempts
        if self._shared is not None:
            self._shared.changed(-attempts)
        elif self.limit + self.ahead - self.held >= self._wanted:
            self._freed.set()

    def look(self) -> None:
        """Slots that are shared were freed: end the wait if that makes room enough."""
        if self.room >= self._wanted:
            self._freed.set()

    def interrupt(self) -> None:
        """End the wait of `wait_for_room`."""
        self._freed.set()

    async def wait_for_room(self, *, backlog: bool) -> None:
        """Wait until something can be claimed; with a backlog, a moment longer for a larger claim."""
        if not self.wants and self._shared is not None:
            self._shared.begins_to_want(self)
        self.wants = True
        self._look_ahead()
        if self.room <= 0:
            await self._wait(1, FULL_LOOK_S)
        elif (
            backlog
            and self._shared is None
            and self.room < (wanted := min(max((self.limit + self.ahead) // 4, 1), CLAIM_MAX_JOBS))
        ):
            await self._wait(wanted, LINGER_S)

    def claim_took(self, seconds: float) -> None:
        """Remember how long a claim takes."""
        self.round_trip_s = _MEMORY * self.round_trip_s + (1 - _MEMORY) * min(seconds, 1.0)

    def _look_ahead(self) -> None:
        """How many to claim ahead, from what ended since the last look."""
        now_s = monotonic()
        elapsed_s = now_s - self._ended_at_s
        if elapsed_s < 0.001:
            return
        self._rate_hz = _MEMORY * self._rate_hz + (1 - _MEMORY) * self._ended / elapsed_s
        self._ended, self._ended_at_s = 0, now_s
        due = int(self._rate_hz * self.round_trip_s * 1.5)
        self.ahead = min(due, CLAIM_MAX_JOBS) if self.limit > 1 and self.goes_ahead else 0

    async def _wait(self, wanted: int, seconds: float) -> None:
        self._wanted = wanted
        self._freed.clear()
        if self._shared is not None:
            self._shared.waiting.add(self)
        try:
            async with asyncio.timeout(seconds):
                await self._freed.wait()
        except TimeoutError:
            pass
        finally:
            self._wanted = _NOBODY_WAITS
            if self._shared is not None:
                self._shared.waiting.discard(self)
