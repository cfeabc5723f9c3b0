"""Everything works behind a transaction-mode pooler, where two statements rarely share a session."""

import asyncio
from dataclasses import dataclass
from typing import Any

import psycopg

import awa
from awa.db.pool import connection, open_pool
from awa.model.filter import JobFilter
from awa.operations.reading import jobs, queues, stats

JOBS = 200


@dataclass
class Count:
    n: int


async def test_one_connection_meets_more_than_one_session(pooled_url: str) -> None:
    """Without this the tests below would prove nothing."""
    conn = await psycopg.AsyncConnection.connect(pooled_url, autocommit=True)
    other = await psycopg.AsyncConnection.connect(pooled_url, autocommit=True)
    async with conn, other:
        before = await session_of(conn)
        async with other.transaction():
            assert await session_of(other) == before
            assert await session_of(conn) != before


async def test_jobs_are_enqueued_worked_retried_and_finished(pooled_url: str) -> None:
    seen: list[int] = []
    done = asyncio.Event()
    client = awa.AsyncClient(pooled_url)

    @client.task(Count, queue="numbers")
    async def count(job: awa.Job[Count]) -> awa.RetryAfter | None:
        if job.attempt == 1 and job.args.n % 10 == 0:
            return awa.RetryAfter(0)
        seen.append(job.args.n)
        if len(seen) == JOBS:
            done.set()
        return None

    async with client:
        await client.insert_many([Count(n) for n in range(JOBS)], queue="numbers")
        await client.start([("numbers", 20)])
        await asyncio.wait_for(done.wait(), 60)
        await client.shutdown(timeout=60)
        left = await client.list_jobs(queue="numbers", state=awa.JobState.AVAILABLE)

    assert sorted(seen) == list(range(JOBS))
    assert left == []


async def test_pages_ask_together_and_are_answered_each_by_itself(pooled_url: str) -> None:
    """Several at once, each in one session for as long as its transaction lasts."""
    async with awa.AsyncClient(pooled_url) as client:
        await client.insert_many([Count(n) for n in range(JOBS)], queue="numbers")
    async with open_pool(pooled_url, max_size=8) as pool:

        async def looked_at() -> tuple[int, int, int]:
            async with connection(pool) as conn:
                overview = await stats.overview(conn)
                (queue,), _ = await queues.page(conn)
                page = await jobs.look(conn, JobFilter.parse({"queue": "numbers"}))
                waiting = overview["totals"]["available"].jobs
                return waiting, queue["depth"]["available"].jobs, len(page.rows)

        seen = await asyncio.gather(*(looked_at() for _ in range(12)))
    assert set(seen) == {(JOBS, JOBS, 50)}


async def session_of(conn: psycopg.AsyncConnection[Any]) -> int:
    row = await (await conn.execute("SELECT pg_backend_pid()")).fetchone()
    assert row is not None
    return int(row[0])
