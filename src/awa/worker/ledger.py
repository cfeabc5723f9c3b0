"""The attempts that one runtime id holds, and how far back a rescue would have to look for them.

If this process dies, another one looks for what it had claimed since `open_since`. So that value must
never be later than the claim of an attempt which is neither ended nor recorded in awa.attempts. Claims
whose answer is still on the way, or was lost with the connection, count from the database's clock as it
was known when they began.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from datetime import datetime
from itertools import count
from typing import Any, Protocol, TypeVar
from uuid import UUID

from awa.model.callback import CallbackToken
from awa.worker.attempt import Attempt

T = TypeVar("T")


class CallbackDesk(Protocol):
    """Where attempts register callbacks and wait for them."""

    async def register(self, attempt: Attempt, timeout_seconds: float) -> CallbackToken: ...

    async def wait(self, attempt: Attempt, callback: object) -> Any: ...

    def from_thread(self, wish: Coroutine[Any, Any, T]) -> T: ...


class Ledger:
    """What one registration of this process holds. After `declare_dead` nothing it says counts."""

    __slots__ = (
        "_began_since_beat",
        "_calls",
        "_numbers",
        "_unanswered",
        "db_now",
        "dead",
        "desk",
        "flush_progress",
        "on_failed",
        "open",
        "runtime_id",
    )

    def __init__(
        self,
        runtime_id: UUID,
        db_now: datetime,
        flush_progress: Callable[[Attempt], Awaitable[None]],
        desk: CallbackDesk,
    ) -> None:
        self.runtime_id = runtime_id
        self.desk = desk
        self.flush_progress = flush_progress
        self.db_now = db_now
        self.dead = False
        # The kinds that were registered as wanting something to follow a failure.
        self.on_failed: list[str] = []
        # By position: a position is claimed once, so it names an attempt.
        self.open: dict[int, Attempt] = {}
        self._numbers = count()
        self._calls: dict[int, datetime] = {}
        self._began_since_beat: datetime | None = None
        self._unanswered: list[datetime] = []

    def claim_begins(self) -> int:
        """Note a claim call before it is sent; answers its number for the end."""
        number = next(self._numbers)
        self._calls[number] = self.db_now
        if self._began_since_beat is None:
            self._began_since_beat = self.db_now
        return number

    def claim_ends(self, number: int, attempts: Iterable[Attempt]) -> None:
        """The call came back with these attempts."""
        for attempt in attempts:
            self.open[attempt.row.lane_seq] = attempt
        del self._calls[number]

    def claim_unanswered(self, number: int) -> None:
        """The connection broke: the claim may have been committed, with jobs that nobody here knows."""
        self._unanswered.append(self._calls.pop(number))

    @property
    def unanswered_since(self) -> datetime | None:
        """When the first unanswered claim began, or None if there is none."""
        return min(self._unanswered, default=None)

    def unanswered_settled(self, since: datetime) -> None:
        """What claims begun up to `since` may have taken is known now."""
        self._unanswered = [mark for mark in self._unanswered if mark > since]

    def close(self, attempt: Attempt) -> None:
        """The attempt is over, or no longer ours.

        A crash of the server may take a claim back, and the position may be claimed here again; the
        first attempt's end must not hide the second one.
        """
        if self.open.get(attempt.row.lane_seq) is attempt:
            del self.open[attempt.row.lane_seq]

    def beat_begins(self, recorded: Iterable[Attempt]) -> datetime:
        """The `open_since` to send now. `recorded` have or get their row in awa.attempts by this beat."""
        known = {attempt.row.lane_seq for attempt in recorded}
        marks = [self.db_now, *self._calls.values(), *self._unanswered]
        if self._began_since_beat is not None:
            marks.append(self._began_since_beat)
        marks.extend(a.row.claimed_at for seq, a in self.open.items() if seq not in known)
        self._began_since_beat = min(self._calls.values(), default=None)
        return min(marks)

    def declare_dead(self) -> list[Attempt]:
        """The database took this id for dead. Answers what was still open here."""
        self.dead = True
        dropped = list(self.open.values())
        self.open.clear()
        return dropped

    def __iter__(self) -> Iterator[Attempt]:
        return iter(list(self.open.values()))

    def __len__(self) -> int:
        return len(self.open)
