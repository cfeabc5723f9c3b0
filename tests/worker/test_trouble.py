"""The database goes away and comes back, answers get lost: no ending is lost, nothing stays claimed."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

import awa
from awa.dev.postgres import Server
from awa.storage import claim as claims
from awa.storage import finish as finishes
from awa.worker import finisher, queue_loop
from awa.worker.runtime import Worker
from awa.worker.wake import IDLE_AFTER_NAPS

WorkerOf = Callable[[awa.AsyncClient], Worker]
Eventually = Callable[[Callable[[], Awaitable[object]]], Awaitable[object]]


@dataclass
class Work:
    n: int = 0


@pytest.mark.slow
@pytest.mark.parametrize("claims_on_disk", [True, False])
async def test_a_crash_of_the_database_loses_no_ending(
    own_server: Server, worker_of: WorkerOf, eventually: Eventually, claims_on_disk: bool
) -> None:
    """Claims are not flushed; what the crash takes back of them runs again, the rest ends as it did."""
    settings = awa.Settings(heartbeat_interval_s=0.2, pool_timeout_s=1.0)
    ready, go_on, done = asyncio.Event(), asyncio.Event(), asyncio.Event()
    ran: list[int] = []
    async with awa.AsyncClient(own_server.url(), settings=settings) as client:
        await client.migrate()

        @client.task(Work)
        async def handle(job: awa.Job[Work]) -> None:
            ran.append(job.args.n)
            if len(ran) == 5:
                ready.set()
            await go_on.wait()
            if job.args.n == 9:
                done.set()

        first = await client.insert_many([Work(n) for n in range(5)])
        await client.start([("default", 10)], roles=["worker"])
        await ready.wait()
        worker = worker_of(client)
        runtime_id = worker.runtime_id
        if claims_on_disk:
            await client.insert(Work(), queue="elsewhere")  # its flush takes along what was before

        await asyncio.to_thread(own_server.halt, "immediate")
        go_on.set()  # all five end while there is no database
        await asyncio.to_thread(own_server.join)

        async def all_completed() -> bool:
            try:
                jobs = [await client.get_job(job.id) for job in first]
            except awa.DatabaseError:
                return False
            return all(job.state is awa.JobState.COMPLETED for job in jobs)

        await eventually(all_completed)

        # It listens again, claims again, and is still the same runtime.
        async def asleep() -> bool:
            return worker.queues["default"].wake.idle

        await eventually(asleep)
        await client.insert(Work(9))
        async with asyncio.timeout(60):
            await done.wait()
        assert set(ran) == {0, 1, 2, 3, 4, 9}
        assert worker.runtime_id == runtime_id
        if claims_on_disk:
            assert len(ran) == 6


async def test_an_ending_whose_answer_was_lost_is_sent_again_without_double_effect(
    client: awa.AsyncClient, monkeypatch: pytest.MonkeyPatch, worker_of: WorkerOf
) -> None:
    calls: list[dict[int, str]] = []

    async def lossy(conn: Any, runtime_id: Any, endings: Any) -> dict[int, str]:
        answer = await finishes.finish(conn, runtime_id, endings)
        calls.append(answer)
        if len(calls) == 1:
            raise awa.DatabaseError("connection lost") from psycopg.OperationalError("lost")
        return answer

    monkeypatch.setattr(finisher, "finish", lossy)
    ran = asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        ran.set()
        raise RuntimeError("no good")

    job = await client.insert(Work())
    await client.start([("default", 1)], roles=["worker"])
    await ran.wait()
    await client.shutdown()
    seen = await client.get_job(job.id)
    assert [len(answer) for answer in calls] == [1, 0]
    assert (seen.state, seen.attempt, len(seen.errors)) == (awa.JobState.RETRYABLE, 1, 1)


async def test_a_claim_whose_answer_was_lost_is_handed_back(
    client: awa.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database has given this runtime jobs that it knows nothing of, and it stays alive."""
    lost: list[int] = []
    ran: list[tuple[int, int]] = []
    all_ran = asyncio.Event()

    async def lossy(*args: Any, **options: Any) -> claims.Claimed:
        answer = await claims.claim(*args, **options)
        if answer.jobs and not lost:
            lost.extend(job.job_id for job in answer.jobs)
            raise awa.DatabaseError("connection lost") from psycopg.OperationalError("lost")
        return answer

    monkeypatch.setattr(queue_loop, "claim", lossy)

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        ran.append((job.id, job.attempt))
        if len(ran) == 8:
            all_ran.set()

    jobs = await client.insert_many([Work(n) for n in range(8)])
    await client.start([("default", 4)], roles=["worker"])
    async with asyncio.timeout(60):
        await all_ran.wait()
    assert lost
    assert sorted(ran) == [(job.id, 1) for job in jobs]


async def test_one_ending_that_cannot_be_stored_does_not_hold_up_the_others(
    client: awa.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends without what it reported."""

    async def picky(conn: Any, runtime_id: Any, endings: Any) -> dict[int, str]:
        for ending in endings:
            if ending.metadata == {"poison": 3} or "poison" in str(ending.error):
                raise awa.DatabaseError("no") from psycopg.errors.UntranslatableCharacter("22P05")
        return await finishes.finish(conn, runtime_id, endings)

    monkeypatch.setattr(finisher, "finish", picky)
    everybody, count = asyncio.Event(), 0

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        nonlocal count
        count += 1
        if count == 8:
            everybody.set()
        await everybody.wait()
        if job.args.n == 5:
            raise RuntimeError("poison")
        job.update_metadata({"poison": job.args.n})

    jobs = await client.insert_many([Work(n) for n in range(8)])
    await client.start([("default", 8)], roles=["worker"])
    await everybody.wait()
    await client.shutdown()
    for n, job in enumerate(jobs):
        seen = await client.get_job(job.id)
        if n == 5:
            assert (seen.state, seen.errors[0]["kind"]) == (awa.JobState.RETRYABLE, "Unstorable")
        else:
            assert seen.state is awa.JobState.COMPLETED
            assert seen.metadata == ({} if n == 3 else {"poison": n})


async def test_a_listener_that_hears_nothing_is_not_relied_on(
    client: awa.AsyncClient, monkeypatch: pytest.MonkeyPatch, worker_of: WorkerOf
) -> None:
    """As behind a pooler in transaction mode, where LISTEN succeeds in vain."""
    monkeypatch.setattr("awa.worker.listening.HEARING_TIMEOUT_S", 0.05)
    monkeypatch.setattr("awa.worker.listening.Listening._heard", lambda *_: None)
    ran = asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        ran.set()

    await client.start([("default", 1)], roles=["worker"])
    await client.insert(Work())
    async with asyncio.timeout(60):
        await ran.wait()
    assert not worker_of(client).queues["default"].wake.idle


async def test_a_wake_up_connection_that_breaks_is_opened_again(
    client: awa.AsyncClient,
    conn: psycopg.AsyncConnection[Any],
    worker_of: WorkerOf,
    eventually: Eventually,
) -> None:
    await client.start([("default", 1)], roles=["worker"])
    wake = worker_of(client).queues["default"].wake

    async def asleep() -> bool:
        return wake.idle

    async def awake() -> bool:
        return not wake.idle

    await eventually(asleep)
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'awa listener'"
    await conn.execute(kill)
    await eventually(awake)
    await eventually(asleep)


async def test_a_database_that_is_not_migrated_is_said_at_start(empty_database_url: str) -> None:
    async with awa.AsyncClient(empty_database_url) as client:
        with pytest.raises(awa.SchemaNotMigrated, match="awa migrate"):
            await client.start([("default", 1)])


@pytest.mark.slow
async def test_a_shutdown_without_a_database_comes_to_its_end(
    own_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be said is found out by a rescue, later."""
    monkeypatch.setattr("awa.worker.runtime.LAST_WORDS_S", 0.2)
    monkeypatch.setattr("awa.db.beside.TIMEOUT_S", 1.0)
    ready = asyncio.Event()
    client = awa.AsyncClient(own_server.url())
    await client.migrate()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        ready.set()
        await asyncio.Event().wait()

    await client.insert(Work())
    await client.start([("default", 1)], roles=["worker"])
    await ready.wait()
    await asyncio.to_thread(own_server.halt, "immediate")
    async with asyncio.timeout(60):
        assert await client.shutdown(timeout=0) == 1
        await client.close()


async def test_a_database_that_is_not_there_is_said_at_start() -> None:
    client = awa.AsyncClient("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(awa.DatabaseError, match="no connection"):
        await client.start([("default", 1)])
    await client.close()


async def test_a_session_that_keeps_a_queues_wake_up_lock_stops_nobody(
    client: awa.AsyncClient, database_url: str, worker_of: WorkerOf, eventually: Eventually
) -> None:
    """A producer that was cancelled between probing the lock and giving it back would be such a session."""
    ran = asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        ran.set()

    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as other:
        await other.execute("SELECT pg_advisory_lock(4713, hashtext('default'))")
        await client.start([("default", 1)], roles=["worker"])
        wake = worker_of(client).queues["default"].wake

        async def wants_the_lock() -> bool:
            return wake._naps >= IDLE_AFTER_NAPS and not wake.idle

        await eventually(wants_the_lock)
        await client.insert(Work())
        async with asyncio.timeout(60):
            await ran.wait()
