"""A worker claims ahead only as much as ends while a claim is on its way, and gives back what it can't begin."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import pytest

import awa
from awa.worker import slots as slots_module
from awa.worker.runtime import Worker
from awa.worker.slots import CLAIM_MAX_JOBS, Slots


@dataclass
class Work:
    how: str = "quick"


class Clock:
    """A clock that goes when it's told to."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(slots_module, "monotonic", clock)
    return clock


async def run_at(slots: Slots, clock: Clock, jobs_per_s: int, seconds: float) -> None:
    for _ in range(int(seconds * 100)):
        jobs = jobs_per_s // 100
        slots.take(jobs)
        slots.free(jobs)
        clock.now_s += 0.01
        await slots.wait_for_room(backlog=False)


async def test_quick_jobs_are_claimed_ahead(clock: Clock) -> None:
    slots = Slots(20)
    slots.claim_took(0.01)
    await run_at(slots, clock, 10_000, 1.0)
    expected = 10_000 * slots.round_trip_s * 1.5
    assert expected * 0.9 < slots.ahead <= expected
    assert slots.room == 20 + slots.ahead


async def test_slow_jobs_are_not(clock: Clock) -> None:
    slots = Slots(20)
    await run_at(slots, clock, 10_000, 1.0)
    await run_at(slots, clock, 0, 1.0)
    assert slots.ahead == 0


async def test_with_one_slot_nothing_is_claimed_ahead(clock: Clock) -> None:
    slots = Slots(1)
    await run_at(slots, clock, 10_000, 1.0)
    assert (slots.ahead, slots.room) == (0, 1)


async def test_one_claim_is_never_larger_than_its_bound(clock: Clock) -> None:
    slots = Slots(10_000)
    assert slots.room == CLAIM_MAX_JOBS


async def test_a_freed_slot_ends_the_wait_for_room() -> None:
    slots = Slots(2)
    slots.take(2)
    waiting = asyncio.create_task(slots.wait_for_room(backlog=True))
    await asyncio.sleep(0)
    assert not waiting.done()
    slots.free()
    async with asyncio.timeout(60):
        await waiting
    assert slots.room == 1


async def test_what_was_claimed_ahead_of_long_jobs_is_left_to_others(
    client: awa.AsyncClient,
    database_url: str,
    settings: awa.Settings,
    monkeypatch: pytest.MonkeyPatch,
    worker_of: Callable[[awa.AsyncClient], Worker],
) -> None:
    monkeypatch.setattr("awa.worker.queue_loop.AHEAD_PATIENCE_S", 0.0)
    monkeypatch.setattr("awa.worker.slots.FULL_LOOK_S", 0.01)

    def as_after_quick_jobs(slots: Slots) -> None:
        slots.ahead = slots.ahead if slots.held else 20

    monkeypatch.setattr(Slots, "_look_ahead", as_after_quick_jobs)
    hold, blocked, others = asyncio.Event(), asyncio.Semaphore(0), asyncio.Event()
    left = 20

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        blocked.release()
        await hold.wait()

    await client.insert_many([Work() for _ in range(22)])
    await client.start([("default", 2)], roles=["worker"])
    for _ in range(2):
        await blocked.acquire()

    async with awa.AsyncClient(database_url, settings=settings) as second:

        @second.task(Work)
        async def run(job: awa.Job[Work]) -> None:
            nonlocal left
            left -= 1
            if not left:
                others.set()

        await second.start([("default", 2)], roles=["worker"])
        async with asyncio.timeout(60):
            await others.wait()
    assert worker_of(client).finisher.returned == 20
    hold.set()
