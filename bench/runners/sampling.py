"""Where a worker process spends its CPU time: a look at the stack at every few milliseconds of CPU time used.

The innermost frame that belongs to a known part decides: the driver (psycopg and its pool), the product, the event
loop, the handler. Time that the process merely waits is not in it: that is wall time less CPU time.
"""

import signal
from collections import Counter
from types import FrameType

INTERVAL_S = 0.002
PARTS = (
    ("/psycopg", "driver"),
    ("/runners/", "handler"),
    ("/awa/", "awa"),
    ("/asyncio/", "event loop"),
    ("/selectors.py", "event loop"),
)


class Sampler:
    """Counts samples by part from `start` to `stop`; works in the main thread only."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def start(self) -> None:
        """Begin to look."""
        signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL_S, INTERVAL_S)

    def stop(self) -> dict[str, float]:
        """The share of the samples of each part."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        total = sum(self._seen.values()) or 1
        return {part: count / total for part, count in self._seen.most_common()}

    def _look(self, signum: int, frame: FrameType | None) -> None:
        while frame is not None:
            name = frame.f_code.co_filename
            part = next((part for sign, part in PARTS if sign in name), None)
            if part is not None:
                self._seen[part] += 1
                return
            frame = frame.f_back
        self._seen["other"] += 1
