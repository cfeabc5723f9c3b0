"""A deadline's queue forgets what is over, also behind an attempt that isn't; who is late is named once."""

import asyncio
from datetime import UTC, datetime
from time import monotonic
from typing import cast
from uuid import uuid4

from awa.storage.claim import ClaimedJob
from awa.worker.attempt import Attempt
from awa.worker.deadlines import PURGE_FROM, Deadlines
from awa.worker.ledger import CallbackDesk, Ledger


async def never(attempt: Attempt) -> None: ...


def attempts(count: int, *, ended: bool = False) -> list[Attempt]:
    """So many that were claimed just now."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    ledger = Ledger(uuid4(), start, never, cast("CallbackDesk", None))  # nobody asks it
    times = (0.0, 0.0, 0.0, start.timestamp(), None)
    row = ClaimedJob(1, 1, 1, 1, "q", 2, "k", "{}", 1, 25, None, None, None, *times)
    made = [Attempt(row, ledger, monotonic()) for _ in range(count)]
    for attempt in made:
        attempt.ended = ended
    return made


async def test_what_is_over_is_forgotten_behind_a_long_running_head() -> None:
    deadlines = Deadlines(lambda attempt: None)
    deadlines.add(attempts(1), 3600)
    for _ in range(100):
        deadlines.add(attempts(100, ended=True), 3600)
        assert len(deadlines) <= PURGE_FROM


async def test_it_holds_at_most_twice_what_is_not_over() -> None:
    deadlines = Deadlines(lambda attempt: None)
    deadlines.add(attempts(3 * PURGE_FROM), 3600)
    for _ in range(200):
        deadlines.add(attempts(100, ended=True), 3600)
        assert len(deadlines) <= 2 * 3 * PURGE_FROM


async def test_who_is_late_is_named_once_and_who_is_over_never() -> None:
    late: list[Attempt] = []
    rang = asyncio.Event()

    def on_deadline(attempt: Attempt) -> None:
        late.append(attempt)
        attempt.ended = True
        rang.set()

    deadlines = Deadlines(on_deadline)
    over, slow = attempts(1, ended=True), attempts(1)
    deadlines.add(slow + over, 0.0)
    async with asyncio.timeout(60):
        await rang.wait()
    assert late == slow
    assert len(deadlines) == 0
