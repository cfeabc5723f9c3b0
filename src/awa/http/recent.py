"""One answer for everyone who asks the same thing within a moment: thirty open pages cost one look, not thirty."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

KEYS_MAX = 1_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Look:
    """A result that is there or on its way, and until when it is young enough."""

    result: asyncio.Task[Any]
    young_until: float

    def is_young(self, now: float) -> bool:
        if not self.result.done():
            return True
        failed = self.result.cancelled() or self.result.exception() is not None
        return not failed and now < self.young_until


class Recent:
    """Results by key, each kept for a moment; whoever comes while one is made gets that one."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looks: dict[Hashable, _Look] = {}

    def __len__(self) -> int:
        return len(self._looks)

    async def get(
        self, key: Hashable, max_age_s: float, produce: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        """The result of `produce`, begun at most `max_age_s` ago. All who wait for it get what it raises."""
        now = self._clock()
        look = self._looks.get(key)
        if look is None or not look.is_young(now):
            self._forget_old(now)
            # A task of its own: the caller who came first may leave before the others have their answer.
            look = self._looks[key] = _Look(asyncio.create_task(produce()), now + max_age_s)
        result: T = await asyncio.shield(look.result)
        return result

    def _forget_old(self, now: float) -> None:
        if len(self._looks) < KEYS_MAX:
            return
        for key in [key for key, look in self._looks.items() if not look.is_young(now)]:
            del self._looks[key]
        # All are young: those that were asked for first go.
        for key in list(self._looks)[: max(0, len(self._looks) - KEYS_MAX + 1)]:
            del self._looks[key]
