"""A worker whose queue has a limit: it keeps to it with all others together, it doesn't spin, and it goes on when it may."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic

import pytest

import awa
from awa.storage import queues
from awa.storage.claim import Held
from awa.worker import rate as rate_module
from awa.worker.holding import Holding
from awa.worker.rate import MARGIN_S, Rate

Eventually = Callable[[Callable[[], Awaitable[object]]], Awaitable[object]]


@dataclass
class Work:
    n: int = 0


class Clock:
    """A clock that goes when it's told to."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(rate_module, "monotonic", clock)
    return clock


def test_a_rate_counts_the_starts_of_a_window(clock: Clock) -> None:
    rate = Rate(5)
    rate.took(3)
    clock.now_s += 0.5
    rate.took(2)
    assert rate.room() == 0
    assert rate.wait_s() == pytest.approx(0.5 + MARGIN_S)
    clock.now_s += 0.5 + MARGIN_S
    assert rate.room() == 3
    clock.now_s += 0.5
    assert rate.room() == 5


def test_less_than_one_a_second_is_one_in_several(clock: Clock) -> None:
    rate = Rate(0.25)
    assert rate.room() == 1
    rate.took(1)
    assert rate.wait_s() == pytest.approx(4 + MARGIN_S)


async def test_an_end_in_this_process_ends_the_wait() -> None:
    holding = Holding(60.0, 60.0, asyncio.Event())
    waiting = asyncio.create_task(holding.wait(Held("max_running", None), served=False))
    await asyncio.sleep(0)
    assert not waiting.done()
    holding.eased()
    async with asyncio.timeout(60):
        await waiting


async def test_what_ended_while_a_claim_was_on_its_way_counts() -> None:
    holding = Holding(60.0, 60.0, asyncio.Event())
    holding.looking()
    holding.eased()
    async with asyncio.timeout(60):
        await holding.wait(Held("max_running", None), served=False)


async def test_stopping_ends_the_wait_for_a_rate() -> None:
    stopping = asyncio.Event()
    waiting = asyncio.create_task(
        Holding(60.0, 60.0, stopping).wait(Held("rate", 60.0), served=True)
    )
    await asyncio.sleep(0)
    stopping.set()
    async with asyncio.timeout(60):
        await waiting


async def test_two_workers_together_run_no_more_than_the_queue_may(
    client: awa.AsyncClient, database_url: str, settings: awa.Settings, eventually: Eventually
) -> None:
    running, most, done = 0, 0, 0

    async def handle(job: awa.Job[Work]) -> None:
        nonlocal running, most, done
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001 * (job.args.n % 3))
        running -= 1
        done += 1

    client.task(Work)(handle)
    async with awa.AsyncClient(database_url, settings=settings) as other:
        other.task(Work)(handle)
        await client.set_queue_limits("default", max_running=3)
        await client.insert_many([Work(n) for n in range(60)])
        await client.start([("default", 20)])
        await other.start([("default", 20)], roles=["worker"])

        async def all_done() -> bool:
            return done == 60

        await eventually(all_done)
        await other.shutdown()
    assert 1 <= most <= 3


async def test_a_worker_begins_no_more_than_its_rate(
    client: awa.AsyncClient, eventually: Eventually
) -> None:
    begun: list[float] = []

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        begun.append(monotonic())

    await client.insert_many([Work(n) for n in range(50)])
    before_s = monotonic()
    await client.start([{"queue": "default", "max_workers": 50, "rate_limit": 40}])

    async def all_done() -> bool:
        return len(begun) == 50

    await eventually(all_done)
    # From before the first claim: a handler may begin long after it, and the next claim's at once.
    assert all(at_s - before_s > 1.0 for at_s in begun[40:])


@pytest.mark.lanes
async def test_a_queue_begins_no_more_than_its_rate(
    client: awa.AsyncClient, eventually: Eventually
) -> None:
    await client.set_queue_limits("default", rate_limit=5, rate_period_seconds=0.5)
    done = 0

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        nonlocal done
        done += 1

    await client.insert_many([Work(n) for n in range(14)])
    await client.start([("default", 20)])

    async def all_done() -> bool:
        return done == 14

    await eventually(all_done)
    async with client.connection() as conn:
        cursor = await conn.execute(
            "SELECT c.claimed_at, sum(later.jobs) FROM awa.lane_claims c JOIN awa.lane_claims later"
            " ON later.claimed_at >= c.claimed_at AND later.claimed_at < c.claimed_at + interval '0.5 s'"
            " GROUP BY c.claimed_at, c.claim_no"
        )
        assert max(jobs for _, jobs in await cursor.fetchall()) <= 5


async def test_a_worker_that_is_held_looks_seldom(
    client: awa.AsyncClient,
    eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And hears at once when the limit is taken away."""
    looks = 0
    done = 0
    wait = Holding.wait

    async def counted(self: Holding, held: Held, *, served: bool) -> None:
        nonlocal looks
        looks += 1
        await wait(self, held, served=served)

    monkeypatch.setattr(Holding, "wait", counted)
    await client.set_queue_limits("default", rate_limit=1, rate_period_seconds=3)

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        nonlocal done
        done += 1

    await client.insert_many([Work(n) for n in range(3)])
    await client.start([("default", 20)])

    async def one_done() -> bool:
        return done == 1

    await eventually(one_done)
    async with client.connection() as conn:
        await queues.set_limits(conn, "default", {"rate_limit": None, "rate_period_s": None})

    async def all_done() -> bool:
        return done == 3

    await eventually(all_done)
    assert looks <= 3
