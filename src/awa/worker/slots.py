"""How many attempts of a queue this worker may hold, and how many it holds.

Beyond one for each handler that may run, a few are claimed ahead, so that handlers don't stand still
while a claim is on its way: as many as end during one claim, going by the rate of late. Where jobs take
long that is none at all, so no job waits here while another worker could run it. With one slot nothing is
claimed ahead either: whoever runs one job at a time wants them in order, and what is handed back goes to the
end of its lane.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final

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
        "_wanted",
        "ahead",
        "held",
        "limit",
        "round_trip_s",
    )

    def __init__(self, limit: int) -> None:
        self.limit = limit
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
        return min(self.limit + self.ahead - self.held, CLAIM_MAX_JOBS)

    def take(self, attempts: int) -> None:
        """So many were claimed."""
        self.held += attempts

    def free(self, attempts: int = 1) -> None:
        """So many are over here."""
        self.held -= attempts
        self._ended += attempts
        if self.limit + self.ahead - self.held >= self._wanted:
            self._freed.set()

    def interrupt(self) -> None:
        """End the wait of `wait_for_room`."""
        self._freed.set()

    async def wait_for_room(self, *, backlog: bool) -> None:
        """Wait until something can be claimed; with a backlog, a moment longer for a larger claim."""
        self._look_ahead()
        if self.room <= 0:
            await self._wait(1, FULL_LOOK_S)
        elif backlog and self.room < (
            wanted := min(max((self.limit + self.ahead) // 4, 1), CLAIM_MAX_JOBS)
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
        self.ahead = min(due, CLAIM_MAX_JOBS) if self.limit > 1 else 0

    async def _wait(self, wanted: int, seconds: float) -> None:
        self._wanted = wanted
        self._freed.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._freed.wait()
        except TimeoutError:
            pass
        finally:
            self._wanted = _NOBODY_WAITS
