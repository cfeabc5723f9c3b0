"""Handlers run at once up to the limit, and none sees what another one left behind."""

import asyncio
import contextvars
import gc
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import awa
from awa.worker.attempt import Attempt
from awa.worker.runtime import Worker

WorkerOf = Callable[[awa.AsyncClient], Worker]
Eventually = Callable[[Callable[[], Awaitable[object]]], Awaitable[object]]


@dataclass
class Work:
    n: int = 0


async def test_as_many_handlers_run_at_once_as_are_allowed_and_no_more(
    client: awa.AsyncClient,
) -> None:
    running, most, done = 0, 0, asyncio.Event()
    full = asyncio.Event()
    left = 40

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        nonlocal running, most, left
        running += 1
        most = max(most, running)
        if running == 8:
            full.set()
        await full.wait()
        await asyncio.sleep(0)
        running -= 1
        left -= 1
        if not left:
            done.set()

    await client.insert_many([Work(n) for n in range(40)])
    await client.start([("default", 8)], roles=["worker"])
    async with asyncio.timeout(60):
        await done.wait()
    assert most == 8


async def test_plain_handlers_run_at_once_too(client: awa.AsyncClient) -> None:
    import threading

    barrier, done = threading.Barrier(4, timeout=60), asyncio.Event()
    loop, left = asyncio.get_running_loop(), [4]

    def one_less() -> None:
        left[0] -= 1
        if not left[0]:
            done.set()

    @client.task(Work)
    def handle(job: awa.Job[Work]) -> None:
        barrier.wait()  # passes only when four of them are here
        loop.call_soon_threadsafe(one_less)

    await client.insert_many([Work(n) for n in range(4)])
    await client.start([("default", 4)], roles=["worker"])
    async with asyncio.timeout(60):
        await done.wait()


async def test_context_variables_of_one_job_are_not_seen_by_another(
    client: awa.AsyncClient,
) -> None:
    trace: contextvars.ContextVar[int] = contextvars.ContextVar("trace", default=-1)
    seen: list[int] = []
    done = asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        seen.append(trace.get())
        trace.set(job.args.n)
        if len(seen) == 30:
            done.set()

    await client.insert_many([Work(n) for n in range(30)])
    await client.start([("default", 3)], roles=["worker"])
    async with asyncio.timeout(60):
        await done.wait()
    assert seen == [-1] * 30


async def test_jobs_of_one_queue_begin_in_order(client: awa.AsyncClient) -> None:
    seen: list[int] = []
    done = asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        seen.append(job.args.n)
        if len(seen) == 500:
            done.set()

    await client.insert_many([Work(n) for n in range(500)])
    await client.start([("default", 1)], roles=["worker"])
    async with asyncio.timeout(60):
        await done.wait()
    assert seen == list(range(500))


async def test_queues_are_worked_on_side_by_side(client: awa.AsyncClient) -> None:
    """A queue whose slots are all taken does not hold up another one."""
    blocked, ran = asyncio.Event(), asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        if job.queue == "slow":
            blocked.set()
            await asyncio.Event().wait()
        ran.set()

    await client.insert_many([Work(n) for n in range(5)], queue="slow")
    await client.start([("slow", 1), ("fast", 1)], roles=["worker"])
    await blocked.wait()
    await client.insert(Work(), queue="fast")
    async with asyncio.timeout(60):
        await ran.wait()


async def test_what_is_over_is_not_kept(
    client: awa.AsyncClient, worker_of: WorkerOf, eventually: Eventually
) -> None:
    """Memory is flat: after 6,000 jobs no attempt of them is held but for its deadline."""
    left, done, hold = 6_000, asyncio.Event(), asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        nonlocal left
        left -= 1
        if not left:
            done.set()

    @client.task(dict, kind="long")
    async def long(job: awa.Job[dict[str, Any]]) -> None:
        await hold.wait()

    await client.insert({}, kind="long", queue="timed", priority=1)
    for queue in ("default", "timed"):
        await client.insert_many([Work(n) for n in range(3_000)], queue=queue)
    timed = {"queue": "timed", "max_workers": 100, "deadline_seconds": 3600}
    await client.start([("default", 100), timed], roles=["worker"])
    worker = worker_of(client)
    async with asyncio.timeout(60):
        await done.wait()

    async def all_sent() -> bool:
        return not worker.finisher._waiting and len(worker.ledger) <= 1

    await eventually(all_sent)
    # What a deadline's queue forgets at its next purge has a bound of its own: tests/worker/test_deadlines.py.
    deadlines = worker.queues["timed"]._deadlines
    assert deadlines is not None

    async def no_other_is_held() -> bool:
        """Once a heartbeat that is under way has been answered: it names what it speaks of."""
        gc.collect()
        # By type: asking a lazy object of another library for its class wakes it up.
        held = (thing for thing in gc.get_objects() if type(thing) is Attempt)
        return sum(attempt.ledger is worker.ledger for attempt in held) == len(deadlines)

    await eventually(no_other_is_held)
    assert len(worker.ledger) == 1
    hold.set()
