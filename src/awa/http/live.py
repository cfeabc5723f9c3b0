"""What changes, watched once for all who look: one task a thing asks the database, everyone else waits for it.

A thing is a `Topic`: how to look at it, and how often. Its watch begins with the first who looks and ends with the
last. Whoever looks waits for a version newer than the one it has seen, so a slow reader misses what lay between
and holds up nobody.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from awa.model.errors import AwaError, TooMany

log = logging.getLogger("awa.api")

STREAMS_MAX = 100
STREAM_RETRY_S = 10
TROUBLE_INTERVAL_MAX_S = 30.0

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Topic(Generic[S]):
    """One thing that is watched. `look` is given what was seen before, None at first."""

    key: Hashable
    look: Callable[[S | None], Awaitable[S]]
    interval_s: float


class Watch(Generic[S]):
    """What one topic is like now; made by `Live`."""

    def __init__(self, topic: Topic[S]) -> None:
        self.topic = topic
        self.version = 0
        self.seen: S | None = None
        self.trouble: Exception | None = None
        self.watchers = 0
        self.ended = False
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name=f"awa-watch-{topic.key}")

    async def newer_than(self, version: int, wait_s: float) -> bool:
        """Wait for a change (or trouble, or the end) after `version`; False if there was none within `wait_s`."""
        if self.version == version and not self.ended:
            try:
                await asyncio.wait_for(self._changed.wait(), wait_s)
            except TimeoutError:
                return False
        return True

    async def end(self) -> None:
        """Look no more; whoever waits is told. A look under way is broken off."""
        self.ended = True
        self._tell()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        wait_s = self.topic.interval_s
        while True:
            wait_s = await self._look(wait_s)
            await asyncio.sleep(wait_s)

    async def _look(self, wait_s: float) -> float:
        """One look; returns how long to wait for the next one, longer and longer while there is trouble."""
        try:
            seen = await self.topic.look(self.seen)
        except Exception as problem:
            # Said once, not at every look. A mistake of ours comes with where it happened.
            if self.trouble is None:
                where = None if isinstance(problem, AwaError) else problem
                log.warning("watching %s: %s", self.topic.key, problem, exc_info=where)
            self.trouble = problem
            self._tell()
            return min(2 * wait_s, TROUBLE_INTERVAL_MAX_S)
        if self.version == 0 or self.trouble is not None or seen != self.seen:
            self.seen, self.trouble = seen, None
            self._tell()
        return self.topic.interval_s

    def _tell(self) -> None:
        self.version += 1
        waiting, self._changed = self._changed, asyncio.Event()
        waiting.set()


class Live:
    """All watches of one application, and how many look at them."""

    def __init__(self, *, streams_max: int = STREAMS_MAX) -> None:
        self.streams_max = streams_max
        self.streams = 0
        self._closed = False
        self._watches: dict[Hashable, Watch[Any]] = {}

    @property
    def watched(self) -> int:
        """How many things are watched."""
        return len(self._watches)

    @asynccontextmanager
    async def watching(self, topic: Topic[S]) -> AsyncIterator[Watch[S]]:
        """Look at a topic along with all others who do. Raises TooMany beyond `streams_max`."""
        if self._closed:
            raise TooMany("the server is stopping", details={"retry_after_s": STREAM_RETRY_S})
        if self.streams >= self.streams_max:
            raise TooMany(
                f"{self.streams} live streams are open, as many as this server takes",
                hint="close some pages, or ask for the state now and then instead",
                details={"retry_after_s": STREAM_RETRY_S},
            )
        if topic.key not in self._watches:
            self._watches[topic.key] = Watch(topic)
        watch: Watch[S] = self._watches[topic.key]
        self.streams += 1
        watch.watchers += 1
        try:
            yield watch
        finally:
            self.streams -= 1
            watch.watchers -= 1
            if watch.watchers == 0 and self._watches.get(topic.key) is watch:
                del self._watches[topic.key]
                await watch.end()

    async def close(self) -> None:
        """End every watch, and with it every stream. None begins after that."""
        self._closed = True
        watches = list(self._watches.values())
        self._watches.clear()
        for watch in watches:
            await watch.end()
