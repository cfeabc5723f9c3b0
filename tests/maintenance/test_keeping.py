"""Duties run side by side: none starves, delays or ends another."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import pytest
from psycopg import AsyncConnection

from awa.db.pool import Pool
from awa.db.run import Connection
from awa.maintenance import keeping
from awa.maintenance.duty import Duty, RunOnce
from awa.maintenance.keeping import keep_duty
from awa.maintenance.term import Term
from awa.operations.fence import STATEMENT_MAX_MS


class Probe:
    """Duties that note when they ran, and wait for what a test wants to see."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        self.changed = asyncio.Condition()

    def duty(
        self,
        name: str,
        act: RunOnce,
        *,
        interval_s: float = 0.01,
        bound: int = 100,
        statement_max_ms: int = STATEMENT_MAX_MS,
    ) -> Duty:
        async def run_once(conn: Connection, now: datetime | None) -> int:
            async with self.changed:
                self.runs[name] += 1
                self.changed.notify_all()
            return await act(conn, now)

        return Duty(name, interval_s, bound, run_once, statement_max_ms)

    async def until(self, name: str, runs: int) -> None:
        async with asyncio.timeout(60), self.changed:
            await self.changed.wait_for(lambda: self.runs[name] >= runs)


async def nothing(conn: Connection, now: datetime | None) -> int:
    return 0


async def sleep_in_the_database(conn: Connection, now: datetime | None) -> int:
    await conn.execute("SELECT pg_sleep(600)")
    return 0


async def fail(conn: Connection, now: datetime | None) -> int:
    raise RuntimeError("a duty's surprise")


@asynccontextmanager
async def kept(term: Term, pool: Pool, *duties: Duty) -> AsyncIterator[None]:
    term.valid_until_s = time.monotonic() + 3_600
    tasks = [asyncio.create_task(keep_duty(duty, term, pool)) for duty in duties]
    try:
        yield
    finally:
        term.end()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture(autouse=True)
async def _long_lease(term: Term, conn: AsyncConnection[Any]) -> None:
    await conn.execute("UPDATE awa.leases SET expires_at = now() + interval '1 hour'")


async def test_a_slow_duty_does_not_delay_the_others(term: Term, pool: Pool) -> None:
    probe = Probe()
    slow = probe.duty("slow", sleep_in_the_database, statement_max_ms=600_000)
    quick = probe.duty("promotion", nothing)
    async with kept(term, pool, slow, quick):
        await probe.until("slow", 1)
        await probe.until("promotion", 20)
        assert probe.runs["slow"] == 1


async def test_a_duty_that_raises_stops_neither_itself_nor_others(
    term: Term, pool: Pool, caplog: pytest.LogCaptureFixture
) -> None:
    probe = Probe()
    async with kept(term, pool, probe.duty("bad", fail), probe.duty("good", nothing)):
        await probe.until("bad", 3)
        await probe.until("good", 20)
    assert "duty bad failed: a duty's surprise" in caplog.text


async def test_a_failing_duty_comes_again_ever_more_slowly(
    term: Term, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def note(event: asyncio.Event, seconds: float) -> bool:
        pauses.append(seconds)
        if len(pauses) > 20:
            event.set()
        return event.is_set()

    monkeypatch.setattr(keeping, "wait", note)
    await keep_duty(Duty("bad", 0.2, 1, fail), term, pool)
    assert pauses[1:4] == [0.4, 0.8, 1.6]
    assert max(pauses) == keeping.BACKOFF_MAX_S


async def test_a_duty_that_fills_its_bound_comes_again_at_once(term: Term, pool: Pool) -> None:
    left = 5

    async def backlog(conn: Connection, now: datetime | None) -> int:
        nonlocal left
        left -= 1
        return 100 if left > 0 else 0

    probe = Probe()
    async with kept(term, pool, probe.duty("busy", backlog, interval_s=3600)):
        await probe.until("busy", 5)


async def test_a_duty_is_bounded_by_the_server(
    term: Term, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run_once(conn: Connection, now: datetime | None) -> int:
        await conn.execute("SELECT pg_sleep(600)")
        return 0

    monkeypatch.setattr(keeping, "HANGING_EXTRA_S", 60.0)
    with pytest.raises(Exception, match="statement timeout"):
        await keeping.run_bounded(Duty("slow", 1, 1, run_once, statement_max_ms=100), term, pool)


async def test_a_duty_that_hangs_without_a_word_is_given_up(
    term: Term, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(conn: Connection, now: datetime | None) -> int:
        await asyncio.Event().wait()
        return 0

    monkeypatch.setattr(keeping, "HANGING_EXTRA_S", 0.05)
    with pytest.raises(TimeoutError):
        await keeping.run_bounded(Duty("hung", 1, 1, hang, statement_max_ms=50), term, pool)


async def test_the_term_s_end_ends_every_duty_between_two_runs(term: Term, pool: Pool) -> None:
    keep = asyncio.create_task(keep_duty(Duty("idle", 3600, 1, nothing), term, pool))
    await asyncio.sleep(0)
    term.end()
    async with asyncio.timeout(60):
        await keep
