"""Operations over the same jobs, with workers claiming all the while: every job runs once, every sum is exact."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from awa.config import Settings
from awa.db.pool import Pool
from awa.operations import read
from awa.operations.runner import Runner
from awa.operations.submit import submit
from awa.storage import change
from awa.storage.claim import claim
from awa.storage.finish import Ending, finish
from tests.conftest import Connect
from tests.operations.kit import (
    Conn,
    a_runtime,
    add_jobs,
    add_scheduled,
    check_sums,
    jobs_by,
    lead,
    run_to_end,
    value,
)


async def work(conn: Conn, queues: list[str], stop: asyncio.Event, ran: list[int]) -> None:
    """A worker that claims from queues and completes what it got, until told to stop and nothing is left."""
    runtime = await a_runtime(conn)
    empty = 0
    while not stop.is_set() or empty < 2:
        jobs = [job for queue in queues for job in (await claim(conn, queue, 7, runtime)).jobs]
        empty = 0 if jobs else empty + 1
        ran += [job.job_id for job in jobs]
        if jobs:
            endings = [Ending(job.lane_id, job.claim_no, job.lane_seq, "completed") for job in jobs]
            assert len(await finish(conn, runtime, endings)) == len(jobs)
        await asyncio.sleep(0)


async def done(conn: Conn, ids: list[Any]) -> bool:
    """Whether all these operations have ended."""
    found = [await read.get(conn, operation_id) for operation_id in ids]
    return all(operation["finalized_at"] is not None for operation in found)


@pytest.mark.parametrize("workers", [0, 4])
async def test_opposite_moves_over_the_same_jobs(
    conn: Conn, connect: Connect, pool: Pool, workers: int
) -> None:
    ids = await add_jobs(conn, 800, queue="a") + await add_jobs(conn, 800, queue="b", priority=3)
    later = await add_scheduled(conn, 100, queue="a")
    settings = Settings(batch_concurrency=4)
    submitted = [
        (await submit(conn, kind, where, spec))["id"]
        for kind, where, spec in [
            ("move_queue", {"queue": "a"}, {"queue": "b"}),
            ("move_queue", {"queue": "b"}, {"queue": "a"}),
            ("set_priority", {"kind": "work"}, {"priority": 1}),
            ("move_queue", {"kind": "work"}, {"queue": "b", "priority": 4}),
        ]
    ]
    stop, ran = asyncio.Event(), list[int]()
    busy = [
        asyncio.create_task(work(await connect(), ["a", "b"], stop, ran)) for _ in range(workers)
    ]
    runner = Runner(pool, await lead(conn), settings)
    running = asyncio.create_task(runner.run(stop))
    async with asyncio.timeout(60):
        while not await done(conn, submitted):  # noqa: ASYNC110 -- the database sets no event
            await asyncio.sleep(0.05)
    stop.set()
    await asyncio.gather(running, *busy)
    for operation_id in submitted:
        operation = await check_sums(conn, operation_id)
        assert (operation["state"], operation["errored"]) == ("completed", 0)
        assert operation["pending"] == 0
    if workers:
        assert Counter(ran) == Counter(ids), "each job ran once"
        assert await jobs_by(conn, "state") == {"completed": 1600, "scheduled": 100}
    else:
        assert await jobs_by(conn, "state") == {"available": 1600, "scheduled": 100}
    assert await value(conn, "SELECT count(DISTINCT id) FROM awa.jobs") == len(ids) + len(later)


async def test_two_leaders_that_believe_in_themselves_do_nothing_twice(
    conn: Conn, pool: Pool
) -> None:
    """Even if the lease did not tell them apart, the operation's lock and its items would."""
    await add_jobs(conn, 400)
    submitted = await submit(conn, "move_queue", {"kind": "work"}, {"queue": "b"})
    guard = await lead(conn)
    twins = [Runner(pool, guard, Settings()) for _ in range(2)]
    await asyncio.gather(*(run_to_end(twin) for twin in twins))
    operation = await check_sums(conn, submitted["id"])
    assert operation["totals"] == {"processed": {"changed": 400}}
    assert await jobs_by(conn, "queue") == {"b": 400}


async def test_the_runner_lives_through_lost_connections(
    conn: Conn, pool: Pool, runner: Runner
) -> None:
    await add_jobs(conn, 600)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    stop = asyncio.Event()
    running = asyncio.create_task(runner.run(stop))
    kill = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    rounds = 0
    async with asyncio.timeout(60):
        while rounds < 5:  # a round counts when somebody had come back to be killed
            rounds += await value(conn, kill) > 0
            await asyncio.sleep(0.01)
    async with asyncio.timeout(60):
        while not await done(conn, [submitted["id"]]):  # noqa: ASYNC110 -- as above
            await asyncio.sleep(0.05)
    stop.set()
    await running
    operation = await check_sums(conn, submitted["id"])
    assert (operation["processed"], operation["errored"]) == (600, 0)


async def test_the_runner_stops_when_it_is_told(conn: Conn, runner: Runner) -> None:
    stop = asyncio.Event()
    running = asyncio.create_task(runner.run(stop))
    await asyncio.sleep(0)
    stop.set()
    async with asyncio.timeout(60):
        await running


async def test_single_jobs_are_changed_by_the_same_functions(conn: Conn) -> None:
    """A set of one: what the client's set_job_priority and move_job call."""
    (job_id,) = await add_jobs(conn, 1, queue="a")
    async with conn.transaction():
        (moved,) = await change.relocate(
            conn, await change.lock_waiting(conn, [job_id]), queue="b", priority=1
        )
    assert (moved.outcome, moved.before) == ("moved", {"queue": "a", "priority": 2})
