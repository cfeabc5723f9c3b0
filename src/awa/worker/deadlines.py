"""Deadlines of running attempts: one timer a queue, because its deadlines end in the order of the claims."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Final

from awa.worker.attempt import Attempt

PURGE_FROM: Final = 2_000


class Deadlines:
    """Calls `on_deadline(attempt)` for each attempt that isn't over when its time is up."""

    def __init__(self, on_deadline: Callable[[Attempt], None]) -> None:
        self._on_deadline = on_deadline
        self._due: deque[tuple[float, Attempt]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._purge_at = PURGE_FROM

    def __len__(self) -> int:
        """How many attempts it holds: at most twice those not over at the last purge, or PURGE_FROM."""
        return len(self._due)

    def add(self, attempts: list[Attempt], seconds: float) -> None:
        """These were claimed just now and have so many seconds."""
        self._due.extend((attempt.claimed_s + seconds, attempt) for attempt in attempts)
        if len(self._due) > self._purge_at:
            self._purge()
        if self._timer is None:
            self._wait()

    def _purge(self) -> None:
        """Forget what is over behind a long-running head, so that memory stays flat."""
        self._due = deque(entry for entry in self._due if not entry[1].ended)
        self._purge_at = max(2 * len(self._due), PURGE_FROM)

    def _wait(self) -> None:
        while self._due and self._due[0][1].ended:
            self._due.popleft()
        self._timer = None
        if self._due:
            delay_s = max(self._due[0][0] - monotonic(), 0.0)
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._ring)

    def _ring(self) -> None:
        now_s = monotonic()
        while self._due and self._due[0][0] <= now_s:
            _, attempt = self._due.popleft()
            if not attempt.ended:
                self._on_deadline(attempt)
        self._wait()
