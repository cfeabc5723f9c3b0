"""A job whose last worker died has its follow-up all the same: another worker that knows the kind settles it, once."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

import awa
from awa.storage import follow_ups
from awa.worker import owed
from tests.worker.test_stopping import Endless, WorkerOf, rescue_as_if_silent

Eventually = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
Conn = psycopg.AsyncConnection[Any]


@dataclass
class Charge:
    n: int = 1


@dataclass
class Refund:
    n: int
    why: str = ""


def refund(job: awa.Job[Charge]) -> object:
    """What is to follow a failure."""
    return awa.FollowUp(Refund(job.args.n, job.errors[-1]["kind"]), queue="refunds", priority=1)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owed, "LOOK_INTERVAL_S", 0.02)


@asynccontextmanager
async def other_worker(url: str, on_failed: Any) -> AsyncIterator[awa.AsyncClient]:
    """Another program with a task for the kind; it takes another queue."""
    async with awa.AsyncClient(url) as client:
        idle: Any = Endless()
        client.task(Charge, on_failed=on_failed)(idle)
        await client.start([("elsewhere", 1)], roles={"worker"})
        yield client


@pytest.fixture
async def lost(client: awa.AsyncClient, conn: Conn, worker_of: WorkerOf) -> Any:
    """Runs jobs, and takes their worker for dead in their last attempts."""

    async def lose(*jobs: Charge, known: bool = True) -> list[int]:
        started = asyncio.Semaphore(0)

        @client.task(Charge, on_failed=refund if known else None)
        async def handle(job: awa.Job[Charge]) -> None:
            job.update_metadata({"seen": True})
            await job.flush_progress()
            started.release()
            await asyncio.Event().wait()

        inserted = await client.insert_many(list(jobs), max_attempts=1)
        await client.start([("default", len(jobs))], roles={"worker"})
        async with asyncio.timeout(60):
            for _ in inserted:
                await started.acquire()
        # As after its death: it settles nothing itself.
        worker = worker_of(client)
        for task in worker._services:
            if "owed" in task.get_name():
                task.cancel()
        await rescue_as_if_silent(conn, worker.runtime_id)
        assert [(await client.get_job(job.id)).state for job in inserted] == ["failed"] * len(jobs)
        return [job.id for job in inserted]

    return lose


async def refunds(client: awa.AsyncClient) -> list[tuple[str, int, Any]]:
    found = await client.list_jobs(kind="refund")
    return sorted((job.queue, job.priority, job.args) for job in found)


async def test_another_worker_asks_the_task_and_inserts_what_it_wants_once(
    client: awa.AsyncClient, lost: Any, conn: Conn, database_url: str, eventually: Eventually
) -> None:
    seen: list[awa.Job[Charge]] = []

    def ask(job: awa.Job[Charge]) -> object:
        seen.append(job)
        return refund(job)

    (job_id,) = await lost(Charge(7))
    assert await follow_ups.count_owed(conn) == 1
    async with other_worker(database_url, ask), other_worker(database_url, ask):
        await eventually(lambda: refunds(client))

        async def nothing_owed() -> bool:
            return await follow_ups.count_owed(conn) == 0

        await eventually(nothing_owed)
    assert await refunds(client) == [("refunds", 1, {"n": 7, "why": "RuntimeLost"})]
    (job,) = seen
    assert (job.id, job.state, job.args) == (job_id, awa.JobState.FAILED, Charge(7))
    assert (job.attempt, job.max_attempts, job.metadata) == (1, 1, {"seen": True})


async def test_so_does_the_same_program_under_its_new_id(
    client: awa.AsyncClient, conn: Conn, worker_of: WorkerOf, eventually: Eventually
) -> None:
    handler: Any = Endless()
    client.task(Charge, on_failed=refund)(handler)
    await client.insert(Charge(1), max_attempts=1)
    await client.start([("default", 1)], roles={"worker"})
    async with asyncio.timeout(60):
        await handler.started.wait()
    await rescue_as_if_silent(conn, worker_of(client).runtime_id)
    await eventually(lambda: refunds(client))
    assert await refunds(client) == [("refunds", 1, {"n": 1, "why": "RuntimeLost"})]


async def test_a_task_that_is_registered_later_counts_too(
    client: awa.AsyncClient, conn: Conn, worker_of: WorkerOf, eventually: Eventually
) -> None:
    await client.start([("default", 1)], roles={"worker"})
    handler: Any = Endless()
    client.task(Charge, on_failed=refund)(handler)

    async def said() -> bool:
        found = await conn.execute("SELECT on_failed FROM awa.runtimes WHERE state = 'alive'")
        return await found.fetchone() == (["charge"],)

    await eventually(said)
    await client.insert(Charge(1), max_attempts=1)
    async with asyncio.timeout(60):
        await handler.started.wait()
    await rescue_as_if_silent(conn, worker_of(client).runtime_id)
    await eventually(lambda: refunds(client))


async def test_who_does_not_know_what_is_to_follow_leaves_it(
    client: awa.AsyncClient, lost: Any, conn: Conn, database_url: str, eventually: Eventually
) -> None:
    await lost(Charge())
    async with other_worker(database_url, None) as stranger:
        await stranger.insert(Refund(0), queue="elsewhere")  # it works, and looks meanwhile

        @stranger.task(Refund)
        async def handle(job: awa.Job[Refund]) -> None: ...

        async def worked() -> bool:
            found = await stranger.list_jobs(kind="refund", state="completed")
            return bool(found)

        await eventually(worked)
        assert await follow_ups.count_owed(conn) == 1


async def test_nothing_is_owed_where_no_task_wants_anything(lost: Any, conn: Conn) -> None:
    await lost(Charge(), known=False)
    assert await follow_ups.count_owed(conn) == 0


async def test_one_that_raises_or_cant_be_stored_keeps_no_other_from_its_own(
    client: awa.AsyncClient,
    lost: Any,
    database_url: str,
    eventually: Eventually,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def ask(job: awa.Job[Charge]) -> object:
        if job.args.n == 1:
            raise RuntimeError("no idea")
        follow = refund(job)
        if job.args.n == 2:
            # Past all checks of ours, as a trigger or a constraint of the database's owner may refuse.
            return awa.FollowUp(Refund(2, "refused"), queue="refused")
        return follow

    await lost(Charge(1), Charge(2), Charge(3))
    async with client.connection() as conn:
        await conn.execute(
            "ALTER TABLE awa.lanes ADD CONSTRAINT refuses CHECK (queue <> 'refused')"
        )
        with caplog.at_level(logging.ERROR, "awa.worker"):
            async with other_worker(database_url, ask):
                await eventually(lambda: refunds(client))
    assert await refunds(client) == [("refunds", 1, {"n": 3, "why": "RuntimeLost"})]
    assert "on_failed of charge failed for job" in caplog.text
    assert "could not be stored" in caplog.text


async def test_what_was_not_committed_is_settled_again(
    client: awa.AsyncClient, lost: Any, conn: Conn, worker_of: WorkerOf, monkeypatch: Any
) -> None:
    """The note and what follows go together: whoever dies in between has done neither."""
    await lost(Charge(5))
    settling = owed.Owed(worker_of(client))

    async def dies(*_: object) -> None:
        raise ConnectionError("the process is killed here")

    with monkeypatch.context() as patch:
        patch.setattr(owed, "insert_follow_ups", dies)
        with pytest.raises(ConnectionError):
            await settling.settle(["charge"])
    assert (await refunds(client), await follow_ups.count_owed(conn)) == ([], 1)
    assert await settling.settle(["charge"]) == 1
    assert await settling.settle(["charge"]) == 0
    assert len(await refunds(client)) == 1
