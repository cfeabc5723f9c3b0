"""Running attempts are stopped: by an operator, by a deadline, because the runtime counts as dead."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any
from uuid import UUID

import psycopg
import pytest

import awa
from awa.worker.runtime import Worker

WorkerOf = Callable[[awa.AsyncClient], Worker]
Eventually = Callable[[Callable[[], Awaitable[object]]], Awaitable[object]]


@dataclass
class Work:
    n: int = 0


class Endless:
    """A handler that runs until it is stopped."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.stopped = asyncio.Event()
        self.flag_was_set = False

    async def __call__(self, job: awa.Job[Work]) -> None:
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.flag_was_set = job.is_cancelled()
            self.stopped.set()


async def started(client: awa.AsyncClient, handler: Endless, **options: Any) -> awa.Job[Work]:
    client.task(Work)(handler)
    job = await client.insert(Work())
    await client.start([{"queue": "default", "max_workers": 2, **options}], roles=["worker"])
    async with asyncio.timeout(60):
        await handler.started.wait()
    return job


async def rescue_as_if_silent(conn: psycopg.AsyncConnection[Any], runtime_id: UUID) -> None:
    """What the leader does when a runtime has been silent for longer than 30 s."""
    rescue = "SELECT awa.rescue(30, 100, clock_timestamp() + interval '31 s')"
    state = "SELECT state FROM awa.runtimes WHERE id = %s"
    # A heartbeat that is just being written keeps its row from being rescued.
    while await (await conn.execute(state, [runtime_id])).fetchone() != ("dead",):
        await conn.execute(rescue)


async def test_cancelling_a_running_job_stops_its_handler(client: awa.AsyncClient) -> None:
    handler = Endless()
    job = await started(client, handler)
    cancelled = await client.cancel(job.id, reason="wrong customer")
    assert cancelled.state is awa.JobState.CANCELLED
    async with asyncio.timeout(60):
        await handler.stopped.wait()
    assert handler.flag_was_set
    await client.shutdown()
    seen = await client.get_job(job.id)
    assert (seen.state, seen.errors[0]["error"]) == (awa.JobState.CANCELLED, "wrong customer")


async def test_without_a_listener_the_heartbeat_tells_of_it(
    database_url: str, settings: awa.Settings
) -> None:
    handler = Endless()
    async with awa.AsyncClient(database_url, settings=settings, listen=False) as client:
        job = await started(client, handler)
        await client.cancel(job.id)
        async with asyncio.timeout(60):
            await handler.stopped.wait()
        assert handler.flag_was_set


async def test_a_handler_has_a_grace_in_which_to_stop_by_itself(database_url: str) -> None:
    settings = awa.Settings(cancel_grace_s=3600, heartbeat_interval_s=0.1)
    ready, ended = asyncio.Event(), asyncio.Event()
    async with awa.AsyncClient(database_url, settings=settings) as client:

        @client.task(Work)
        async def handle(job: awa.Job[Work]) -> None:
            ready.set()
            while not job.is_cancelled():  # noqa: ASYNC110 - what a handler does
                await asyncio.sleep(0.001)
            ended.set()

        job = await client.insert(Work())
        await client.start([("default", 1)], roles=["worker"])
        await ready.wait()
        await client.cancel(job.id)
        async with asyncio.timeout(60):
            await ended.wait()
        await client.shutdown()
        assert (await client.get_job(job.id)).state is awa.JobState.CANCELLED


async def test_the_slot_of_a_cancelled_job_is_free_again(client: awa.AsyncClient) -> None:
    handler, ran = Endless(), asyncio.Event()

    @client.task(dict, kind="next")
    async def following(job: awa.Job[dict[str, Any]]) -> None:
        ran.set()

    client.task(Work)(handler)
    job = await client.insert(Work())
    await client.start([("default", 1)], roles=["worker"])
    await handler.started.wait()
    await client.insert({}, kind="next")
    await client.cancel(job.id)
    async with asyncio.timeout(60):
        await ran.wait()


def an_hour_passes(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadlines of the queue come: not by waiting, which a handler that begins late would lose against."""
    deadlines = worker.queues["default"]._deadlines
    assert deadlines is not None
    with monkeypatch.context() as later:
        later.setattr("awa.worker.deadlines.monotonic", lambda: monotonic() + 3_600)
        deadlines._ring()


async def test_a_deadline_ends_the_attempt_as_a_failed_one(
    client: awa.AsyncClient, worker_of: WorkerOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = Endless()
    job = await started(client, handler, deadline_seconds=3_600)
    an_hour_passes(worker_of(client), monkeypatch)
    async with asyncio.timeout(60):
        await handler.stopped.wait()
    assert handler.flag_was_set
    await client.shutdown()
    seen = await client.get_job(job.id)
    assert (seen.state, seen.attempt) == (awa.JobState.RETRYABLE, 1)
    assert seen.errors[0]["kind"] == "DeadlineExceeded"


async def test_a_deadline_does_not_wait_for_a_thread(
    client: awa.AsyncClient,
    worker_of: WorkerOf,
    eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The attempt ends although its thread goes on; the slot stays taken until the thread is done."""
    told = asyncio.Event()

    @client.task(Work)
    def handle(job: awa.Job[Work]) -> None:
        client_loop.call_soon_threadsafe(told.set)
        while not job.is_cancelled():
            threading_event.wait(0.001)

    threading_event, client_loop = threading.Event(), asyncio.get_running_loop()
    job = await client.insert(Work())
    await client.start(
        [{"queue": "default", "max_workers": 1, "deadline_seconds": 3_600}], roles=["worker"]
    )
    await told.wait()
    an_hour_passes(worker_of(client), monkeypatch)

    async def ended() -> bool:
        return (await client.get_job(job.id)).state is awa.JobState.RETRYABLE

    await eventually(ended)


async def test_a_runtime_declared_dead_drops_its_attempts_and_goes_on_under_a_new_id(
    client: awa.AsyncClient,
    conn: psycopg.AsyncConnection[Any],
    worker_of: WorkerOf,
    eventually: Eventually,
) -> None:
    handler = Endless()
    job = await started(client, handler)
    worker = worker_of(client)
    old = worker.runtime_id

    await rescue_as_if_silent(conn, old)
    async with asyncio.timeout(60):
        await handler.stopped.wait()
    assert handler.flag_was_set

    async def reborn() -> bool:
        return worker.runtime_id != old

    await eventually(reborn)
    seen = await client.get_job(job.id)
    assert (seen.state, seen.errors[0]["kind"]) == (awa.JobState.RETRYABLE, "RuntimeLost")

    # The new one works, and what the old one's handler returned has changed nothing.
    handler.started.clear()
    await client.insert(Work())
    async with asyncio.timeout(60):
        await handler.started.wait()
    seen = await client.get_job(job.id)
    assert (seen.state, seen.attempt) == (awa.JobState.RETRYABLE, 1)
    query = "SELECT state FROM awa.runtimes WHERE id = ANY (%s) ORDER BY started_at"
    states = await (await conn.execute(query, [[old, worker.runtime_id]])).fetchall()
    assert states == [("dead",), ("alive",)]


async def test_a_leader_declared_dead_leads_again_under_its_new_id_or_not_at_all(
    client: awa.AsyncClient,
    conn: psycopg.AsyncConnection[Any],
    worker_of: WorkerOf,
    eventually: Eventually,
) -> None:
    await client.start(roles=["maintenance"])
    worker = worker_of(client)
    old = worker.runtime_id

    async def led_by() -> Any:
        lease = "SELECT holder FROM awa.leases WHERE expires_at > clock_timestamp()"
        return await (await conn.execute(lease)).fetchone()

    async def leads() -> bool:
        return bool(await led_by() == (worker.runtime_id,))

    await eventually(leads)
    await rescue_as_if_silent(conn, old)
    worker.heartbeat.soon()

    async def leads_anew() -> bool:
        return worker.runtime_id != old and await leads()

    await eventually(leads_anew)


async def test_a_late_ending_of_a_dead_runtime_changes_nothing(
    client: awa.AsyncClient,
    conn: psycopg.AsyncConnection[Any],
    worker_of: WorkerOf,
    eventually: Eventually,
) -> None:
    """The handler returns after the rescue and before the process has heard of it."""
    ready, go_on = asyncio.Event(), asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        ready.set()
        await go_on.wait()

    job = await client.insert(Work())
    await client.start([("default", 1)], roles=["worker"])
    await ready.wait()
    worker = worker_of(client)
    old = worker.runtime_id
    async with worker.gate.emptied():
        await rescue_as_if_silent(conn, old)
        go_on.set()

    async def reborn() -> bool:
        return worker.runtime_id != old

    await eventually(reborn)
    seen = await client.get_job(job.id)
    assert (seen.state, seen.attempt) == (awa.JobState.RETRYABLE, 1)


@pytest.mark.parametrize("listen", [True, False])
async def test_a_job_is_picked_up_by_a_worker_that_sleeps(
    database_url: str,
    settings: awa.Settings,
    worker_of: WorkerOf,
    eventually: Eventually,
    listen: bool,
) -> None:
    """By a notification, or by polling where there is no listener."""
    ran = asyncio.Event()
    async with awa.AsyncClient(database_url, settings=settings, listen=listen) as client:

        @client.task(Work)
        async def handle(job: awa.Job[Work]) -> None:
            ran.set()

        await client.start([("default", 1)], roles=["worker"])
        wake = worker_of(client).queues["default"].wake

        async def asleep() -> bool:
            return wake.idle if listen else wake._poll_s > settings.poll_min_ms / 1e3

        await eventually(asleep)
        await client.insert(Work())
        async with asyncio.timeout(60):
            await ran.wait()
