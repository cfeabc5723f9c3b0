"""How often somebody may be wrong: some failures at once, then one more now and then; the memory is bounded.

Only failures count, so whoever knows the answer is never slowed down by having given it. Each peer has one
number, the time at which all its failures will be forgiven; each failure moves it on by `interval_s`.
"""

import time
from collections import OrderedDict
from collections.abc import Callable

FAILURES_AT_ONCE = 10
FAILURE_INTERVAL_S = 30.0
PEERS_MAX = 10_000


class Throttle:
    """Counts failures by peer; of more than `peers_max` peers those that failed longest ago are forgotten."""

    def __init__(
        self,
        *,
        at_once: int = FAILURES_AT_ONCE,
        interval_s: float = FAILURE_INTERVAL_S,
        peers_max: int = PEERS_MAX,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._slack_s = at_once * interval_s
        self._interval_s = interval_s
        self._peers_max = peers_max
        self._clock = clock
        self._forgiven_at: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._forgiven_at)

    def wait_s(self, peer: str) -> float:
        """How long the peer has to wait before its next attempt; 0 if it need not."""
        debt_s = self._forgiven_at.get(peer, 0.0) - self._clock()
        return max(0.0, debt_s + self._interval_s - self._slack_s)

    def failed(self, peer: str) -> None:
        """Note one failure."""
        now = self._clock()
        self._forgiven_at[peer] = max(now, self._forgiven_at.get(peer, now)) + self._interval_s
        self._forgiven_at.move_to_end(peer)
        while len(self._forgiven_at) > self._peers_max:
            self._forgiven_at.popitem(last=False)
