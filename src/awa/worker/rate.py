"""No more than so many starts a second: what one worker does by itself, whatever others do."""

from __future__ import annotations

from collections import deque
from time import monotonic
from typing import Final

# A handler begins a little after its job was claimed, sometimes more and sometimes less.
MARGIN_S: Final = 0.01


class Rate:
    """Starts within any window of time. Half a job per second is one within two seconds."""

    __slots__ = ("_begun", "_jobs", "_used", "_window_s")

    def __init__(self, per_s: float) -> None:
        self._jobs = max(1, int(per_s))
        self._window_s = self._jobs / per_s + MARGIN_S
        self._begun: deque[tuple[float, int]] = deque()
        self._used = 0

    def room(self) -> int:
        """How many may begin now."""
        over_s = monotonic() - self._window_s
        while self._begun and self._begun[0][0] <= over_s:
            self._used -= self._begun.popleft()[1]
        return self._jobs - self._used

    def took(self, jobs: int) -> None:
        """So many begin now."""
        if jobs:
            self._begun.append((monotonic(), jobs))
            self._used += jobs

    def wait_s(self) -> float:
        """How long until there is more room."""
        if not self._begun:
            return 0.0
        return max(0.0, self._begun[0][0] + self._window_s - monotonic())
