"""Shutdown finishes what it can, hands back the rest, and loses nothing."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass

import psycopg
import pytest

import awa
from awa.worker.runtime import Worker


@dataclass
class Work:
    n: int = 0


async def test_shutdown_waits_for_handlers_and_records_their_ends(
    client: awa.AsyncClient,
) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        started.set()
        await go_on.wait()

    job = await client.insert(Work())
    await client.start([("default", 2)], roles=["worker"])
    await started.wait()
    stopping = asyncio.create_task(client.shutdown(timeout=60))
    await asyncio.sleep(0)
    go_on.set()
    assert await stopping == 0
    assert (await client.get_job(job.id)).state is awa.JobState.COMPLETED


async def test_shutdown_hands_back_what_does_not_end_in_time(client: awa.AsyncClient) -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            assert job.is_cancelled()
            cancelled.set()

    jobs = await client.insert_many([Work(n) for n in range(10)])
    await client.start([("default", 1)], roles=["worker"])
    await started.wait()
    returned = await client.shutdown(timeout=0)
    assert cancelled.is_set()
    assert returned >= 1
    for job in jobs:
        seen = await client.get_job(job.id)
        assert (seen.state, seen.attempt) == (awa.JobState.AVAILABLE, 0)


async def test_a_handler_that_ends_when_it_is_told_to_stop_counts_as_done(
    client: awa.AsyncClient,
) -> None:
    started = asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return  # finished its last step

    job = await client.insert(Work())
    await client.start([("default", 1)], roles=["worker"])
    await started.wait()
    await client.shutdown(timeout=0)
    assert (await client.get_job(job.id)).state is awa.JobState.COMPLETED


async def test_a_thread_that_cannot_be_stopped_is_handed_back(
    client: awa.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("awa.worker.runtime.UNWIND_S", 0.05)
    started, go_on, loop = asyncio.Event(), threading.Event(), asyncio.get_running_loop()

    @client.task(Work)
    def handle(job: awa.Job[Work]) -> None:
        loop.call_soon_threadsafe(started.set)
        go_on.wait(60)

    job = await client.insert(Work())
    await client.start([("default", 1)], roles=["worker"])
    await started.wait()
    assert await client.shutdown(timeout=0) == 1
    assert (await client.get_job(job.id)).state is awa.JobState.AVAILABLE
    go_on.set()


async def test_a_stopped_runtime_says_so(
    client: awa.AsyncClient,
    conn: psycopg.AsyncConnection[tuple[str]],
    worker_of: Callable[[awa.AsyncClient], Worker],
) -> None:
    await client.start([("default", 1)], roles=["worker"])
    runtime_id = worker_of(client).runtime_id
    query = "SELECT state FROM awa.runtimes WHERE id = %s"
    assert await (await conn.execute(query, [runtime_id])).fetchone() == ("alive",)
    await client.shutdown()
    assert await (await conn.execute(query, [runtime_id])).fetchone() == ("stopped",)


async def test_a_client_can_be_started_again_after_shutdown(client: awa.AsyncClient) -> None:
    ran = asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        ran.set()

    for _ in range(2):
        ran.clear()
        await client.start([("default", 1)], roles=["worker"])
        with pytest.raises(awa.Conflict, match="started already"):
            await client.start([("default", 1)])
        await client.insert(Work())
        async with asyncio.timeout(60):
            await ran.wait()
        await client.shutdown()
    assert await client.shutdown() == 0
