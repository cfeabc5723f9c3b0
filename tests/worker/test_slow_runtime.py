"""A process that stands still for too long is taken for dead by the leader, finds out, and goes on.

Nothing is pretended here: the leader is a real one in another thread, and the event loop really stands still.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import psycopg

import awa
from awa.worker.runtime import Worker

Eventually = Callable[[Callable[[], Awaitable[object]]], Awaitable[object]]


@dataclass
class Work:
    n: int = 0


def wait_until_dead(database_url: str, runtime_id: object) -> None:
    """Block, as a handler does that forgets that it is on the event loop, until the leader has acted."""
    query = "SELECT state FROM awa.runtimes WHERE id = %s"
    until_s = time.monotonic() + 30
    with psycopg.connect(database_url, autocommit=True) as own:
        while own.execute(query, [runtime_id]).fetchone() != ("dead",):
            assert time.monotonic() < until_s
            time.sleep(0.01)


async def test_it_drops_its_attempts_and_works_on_under_a_new_id(
    database_url: str,
    worker_of: Callable[[awa.AsyncClient], Worker],
    eventually: Eventually,
) -> None:
    settings = awa.Settings(heartbeat_interval_s=0.1, runtime_stale_s=0.5, cancel_grace_s=0.0)
    ids: list[object] = []
    again = asyncio.Event()

    def leader_is_at_work() -> awa.Client:
        leader = awa.Client(database_url, settings=settings)
        leader.start(roles=["maintenance"])
        return leader

    leader = await asyncio.to_thread(leader_is_at_work)
    async with awa.AsyncClient(database_url, settings=settings) as client:

        @client.task(Work)
        async def handle(job: awa.Job[Work]) -> None:
            if job.args.n == 0 and job.attempt == 1:
                ids.append(job.runtime_id)
                wait_until_dead(database_url, job.runtime_id)
                return  # a success that comes too late
            ids.append(job.runtime_id)
            again.set()

        job = await client.insert(Work())
        await client.start([("default", 1)], roles=["worker"])

        async def rescued() -> bool:
            return worker_of(client).runtime_id not in (ids[:1] or [worker_of(client).runtime_id])

        await eventually(rescued)
        seen = await client.get_job(job.id)
        assert seen.state is not awa.JobState.COMPLETED
        assert (seen.attempt, seen.errors[0]["kind"]) == (1, "RuntimeLost")
        await client.retry(job.id)
        async with asyncio.timeout(60):
            await again.wait()
        await client.shutdown()
        seen = await client.get_job(job.id)
        assert (seen.state, seen.attempt) == (awa.JobState.COMPLETED, 2)
        assert len(set(ids)) == 2
    await asyncio.to_thread(leader.close)
