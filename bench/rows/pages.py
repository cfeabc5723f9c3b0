"""What operators look at, with a million jobs stored: how long each read takes while work goes on.

A tenth of the jobs waits in ten queues of four kinds each, the others have ended, one in twenty of them failed. Meanwhile
a worker takes 200 jobs a second from a queue of its own, it or another leads, and operations change the priority of
everything that waits, one after the other. Statistics are as old as the filling left them.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg

from awa.db.pool import Pool, connection, make_pool
from awa.db.run import Connection
from awa.model.filter import JobFilter
from awa.operations.reading import jobs, kinds, queues, runtimes, stats
from bench.arena import Arena
from bench.figures import median, percentile
from bench.peers import AWA, running
from bench.rows.engine import claim, register
from bench.statements import statement
from bench.wanted import Figure

QUEUES = 10
CHUNK_JOBS = 5_000
CLAIM_JOBS = 100
BUSY = "busy"
BUSY_RATE = 200

Read = Callable[[Connection], Awaitable[Any]]


def measure(arena: Arena) -> dict[str, Figure]:
    """Fill, set everything to work, read everything in turns."""
    stored, looks = arena.scaled(1_000_000, 4_000), arena.scaled(60, 2)
    with arena.fresh(AWA) as url:
        fill(arena, url, stored)
        busy = {"queue": BUSY, "count": 10**7, "rate": BUSY_RATE}
        with (
            running(AWA, "listen", url, **busy) as worker,
            running(AWA, "produce", url, **busy),
            running(AWA, "stir", url) as operator,
        ):
            worker.event("ready")
            operator.event("submitted")
            seen = asyncio.run(_look(url, stored, looks))
    for name, took_ms in seen.items():
        at_99 = percentile(took_ms, 0.99)
        arena.say(f"{name}: median {median(took_ms):.0f}, p99 {at_99:.0f} ms")
    return {
        "pages-median": _slowest({name: median(ms) for name, ms in seen.items()}),
        "pages-p99": _slowest({name: percentile(ms, 0.99) for name, ms in seen.items()}),
    }


def fill(arena: Arena, url: str, stored: int) -> None:
    """Nine of ten jobs of each queue have ended, the others wait."""
    each, ended = stored // QUEUES, stored // QUEUES * 9 // 10
    with arena.connect(url) as session:
        runtime_id = register(session)
        for number in range(QUEUES):
            _enqueue(session, number, ended)
            while claimed := claim(session, f"queue-{number}", CLAIM_JOBS, runtime_id)[0]:
                params = {
                    "runtime_id": runtime_id,
                    "lane_ids": [row[1] for row in claimed],
                    "claim_nos": [row[2] for row in claimed],
                    "lane_seqs": [row[3] for row in claimed],
                }
                session.execute(statement("end_mixed").encode(), params)
        for number in range(QUEUES):
            _enqueue(session, number, each - ended)
        session.execute(statement("runtime_is_done").encode(), {"id": runtime_id})


def _enqueue(session: psycopg.Connection[Any], number: int, jobs_: int) -> None:
    for first in range(0, jobs_, CHUNK_JOBS):
        chunk = min(CHUNK_JOBS, jobs_ - first)
        params = {"queue": f"queue-{number}", "number": number, "jobs": chunk}
        session.execute(statement("enqueue_mixed").encode(), params)


def _reads(stored: int) -> dict[str, Read]:
    def page(**fields: Any) -> Read:
        return lambda conn: jobs.page(conn, JobFilter.parse(fields))

    def counts(**fields: Any) -> Read:
        return lambda conn: jobs.counts_by_state(conn, JobFilter.parse(fields))

    def whole(**fields: Any) -> Read:
        async def read(conn: Connection) -> None:
            given = JobFilter.parse(fields)
            shown = await jobs.look(conn, given)
            await jobs.counts_by_state(conn, given, waiting=shown.waiting)

        return read

    return {
        "jobs": page(),
        "jobs of a queue": page(queue="queue-3"),
        "jobs of a kind": page(kind="kind_07"),
        "jobs with a tag": page(tag="customer:77"),
        "jobs with an argument": page(args_contains={"amount": 77}),
        "jobs of no kind": page(kind="none"),
        "waiting jobs": page(state="available"),
        "waiting jobs of a kind": page(state="available", kind="kind_00"),
        "running jobs": page(state="running"),
        "completed jobs": page(state="completed"),
        "completed jobs of the oldest queue": page(state="completed", queue="queue-0"),
        "failed jobs of a kind": page(state="failed", kind="kind_04"),
        "counts by state": counts(),
        "counts of a queue": counts(queue="queue-3"),
        "counts of a kind": counts(kind="kind_07"),
        "counts of a tag": counts(tag="customer:77"),
        "jobs with their counts": whole(),
        "jobs of a kind with their counts": whole(kind="kind_07"),
        "an old job": lambda conn: jobs.detail(conn, stored // 3),
        "a waiting job": lambda conn: jobs.detail(conn, stored - 7),
        "queues": queues.page,
        "a queue": lambda conn: queues.detail(conn, "queue-5"),
        "kinds": kinds.page,
        "runtimes": runtimes.page,
        "overview": stats.overview,
    }


async def _look(url: str, stored: int, looks: int) -> dict[str, list[float]]:
    reads = _reads(stored)
    seen: dict[str, list[float]] = {name: [] for name in reads}
    pool = make_pool(url, min_size=1, max_size=2)
    await pool.open()
    try:
        for _ in range(looks):
            for name, read in reads.items():
                seen[name].append(await _timed(pool, read))
    finally:
        await pool.close()
    return seen


async def _timed(pool: Pool, read: Read) -> float:
    began = time.monotonic()
    async with connection(pool) as conn, conn.transaction():
        await read(conn)
    return (time.monotonic() - began) * 1000


def _slowest(by_read: dict[str, float]) -> Figure:
    name = max(by_read, key=lambda one: by_read[one])
    return Figure(by_read[name], "ms", note=f"the slowest is: {name}")
