"""Hooks are told what the database knows, and nothing that they do changes it."""

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pytest

import awa
from awa.events import hooks as events
from awa.model.hook import Event
from awa.worker import hooks as hooks_room
from awa.worker.hooks import Hooks

ENDS: tuple[tuple[Any, str, str], ...] = (
    (None, "completed", "completed"),
    (awa.RetryAfter(60), "retried", "retryable"),
    (RuntimeError("no"), "retried", "retryable"),
    (awa.TerminalError("never"), "failed", "failed"),
    (awa.Cancel("unwanted"), "cancelled", "cancelled"),
    (awa.Snooze(60), "snoozed", "scheduled"),
)


@dataclass
class Work:
    n: int = 1


class Told:
    """Hooks leave here what they were told."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[awa.JobEvent] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    async def coroutine(self, event: awa.JobEvent) -> None:
        self.events.put_nowait(event)

    def plain(self, event: awa.JobEvent) -> None:
        self._loop.call_soon_threadsafe(self.events.put_nowait, event)

    async def next(self) -> awa.JobEvent:
        return await asyncio.wait_for(self.events.get(), 60)


def handled(client: awa.AsyncClient, result: Any) -> None:
    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> Any:
        if isinstance(result, BaseException):
            raise result
        return result


@pytest.mark.parametrize(("result", "event", "state"), ENDS, ids=lambda given: repr(given)[:20])
async def test_an_end_is_told_when_the_database_has_it(
    client: awa.AsyncClient, result: Any, event: str, state: str
) -> None:
    told, seen = Told(), []

    @client.on(event)
    async def hook(said: awa.JobEvent) -> None:
        seen.append((await client.get_job(said.job.id)).state)
        told.events.put_nowait(said)

    handled(client, result)
    job = await client.insert(Work(7))
    await client.start([("default", 5)], roles=["worker"])
    said = await told.next()
    assert (said.event, said.state, said.job.id, said.job.args) == (event, state, job.id, Work(7))
    assert seen == [state]
    assert (said.error is not None) == (
        event in {"retried", "failed", "cancelled"} and not isinstance(result, awa.RetryAfter)
    )


async def test_the_last_attempt_is_told_as_failed(client: awa.AsyncClient) -> None:
    told = Told()
    client.on("retried")(told.coroutine)
    client.on("failed")(told.plain)
    handled(client, RuntimeError("no"))
    await client.insert(Work(), max_attempts=1)
    await client.start([("default", 5)], roles=["worker"])
    assert (await told.next()).event == "failed"


async def test_starts_and_waits_are_told(client: awa.AsyncClient) -> None:
    told = Told()
    client.on("started")(told.plain)
    client.on("waiting")(told.coroutine)

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> Any:
        return awa.WaitForCallback(await job.register_callback())

    await client.insert(Work())
    await client.start([("default", 5)], roles=["worker"])
    assert {(await told.next()).state, (await told.next()).state} == {"running", "waiting_external"}


async def test_an_end_that_was_refused_is_told_to_nobody(
    database_url: str, settings: awa.Settings
) -> None:
    told, runs, go_on = Told(), asyncio.Event(), asyncio.Event()
    async with awa.AsyncClient(
        database_url, settings=replace(settings, cancel_grace_s=60)
    ) as client:
        for event in Event:
            if event is not Event.STARTED:
                client.on(event)(told.coroutine)

        @client.task(Work)
        async def handle(job: awa.Job[Work]) -> None:
            if job.args.n == 1:
                runs.set()
                await go_on.wait()

        late = await client.insert(Work(1))
        await client.start([("default", 5)], roles=["worker"])
        await asyncio.wait_for(runs.wait(), 60)
        await client.cancel(late.id)
        go_on.set()
        other = await client.insert(Work(2))
        assert (await told.next()).job.id == other.id
        await client.shutdown()
    assert told.events.empty()


async def test_what_a_hook_raises_is_logged_and_changes_nothing(
    client: awa.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    told = Told()

    @client.on("completed")
    def broken(event: awa.JobEvent) -> None:
        raise RuntimeError("a hook of mine")

    client.on("completed")(told.coroutine)
    handled(client, None)
    job = await client.insert(Work())
    await client.start([("default", 5)], roles=["worker"])
    with caplog.at_level(logging.ERROR, "awa.worker"):
        await told.next()
    assert "a hook for completed failed" in caplog.text
    assert (await client.get_job(job.id)).state is awa.JobState.COMPLETED


async def test_a_shutdown_waits_for_hooks(client: awa.AsyncClient) -> None:
    told, ran = Told(), asyncio.Event()
    handled(client, None)

    @client.on("completed")
    async def slow(event: awa.JobEvent) -> None:
        ran.set()
        await asyncio.sleep(0)
        told.events.put_nowait(event)

    await client.insert_many([Work(n) for n in range(20)])
    await client.start([("default", 5)], roles=["worker"])
    await asyncio.wait_for(ran.wait(), 60)
    await client.shutdown(timeout=60)
    done = len(await client.list_jobs(state="completed"))
    assert told.events.qsize() == done


async def test_hooks_are_checked_and_registered_before_the_start(client: awa.AsyncClient) -> None:
    with pytest.raises(awa.ValidationError, match="expected one of started, completed"):
        client.on("finished")
    with pytest.raises(awa.ValidationError, match="expected a function"):
        client.on("completed")(7)  # type: ignore[type-var]
    await client.start(roles=["maintenance"])
    with pytest.raises(awa.Conflict, match="before the client is started"):
        client.on("completed")


async def test_events_beyond_the_bound_are_dropped_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dropped: list[str] = []
    monkeypatch.setattr(hooks_room, "WAITING_MAX_EVENTS", 2)
    monkeypatch.setattr(events, "dropped", dropped.append)
    told = Told()
    hooks = Hooks({Event.STARTED: [told.coroutine]})
    for _ in range(3):
        hooks._tell(_event())
    assert dropped == [Event.STARTED]
    hooks.close()
    await hooks.run()
    assert told.events.qsize() == 2


def _event() -> awa.JobEvent:
    job: Any = type("Job", (), {"id": 1})()
    return awa.JobEvent(Event.STARTED, job, "running", None, 0.0, uuid4())
