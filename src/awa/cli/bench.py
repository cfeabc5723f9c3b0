"""`awa bench`: how fast is this database with this machine, in under a minute.

Jobs that do nothing go in and are worked off by one worker in this process. They use a queue of
their own, so they get into nobody's way; what they leave is removed by retention like any other job.
The comparison with other queues, and the budgets, are `make bench`.
"""

import asyncio
import time
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

import typer

from awa.cli.output import Column
from awa.cli.progress import progress
from awa.cli.session import Session, run
from awa.model.job import Job
from awa.storage.enqueue import NewJob, enqueue_many

QUEUE: Final = "awa-bench"
KIND: Final = "awa_bench.nothing"
CHUNK_JOBS: Final = 1_000
LOOK_EVERY_S: Final = 0.05

_COLUMNS: Final = (
    Column("what", "WHAT", plain=True),
    Column("jobs", "JOBS", right=True),
    Column("seconds", "SECONDS", right=True),
    Column("rate_per_s", "JOBS/S", right=True),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One phase."""

    what: str
    jobs: int
    seconds: float
    rate_per_s: int


def bench(
    context: typer.Context,
    *,
    jobs: Annotated[int, typer.Option(help="How many jobs.", min=1, max=10_000_000)] = 20_000,
    args_bytes: Annotated[
        int, typer.Option(help="Size of each job's arguments.", min=2, max=1_000_000)
    ] = 40,
    width: Annotated[int, typer.Option(help="Jobs at a time.", min=1, max=10_000)] = 1_000,
) -> None:
    """Measure bulk enqueue and drain with jobs that do nothing, in the queue awa-bench."""
    run(context, lambda session: _bench(session, jobs, args_bytes, width))


async def _bench(session: Session, jobs: int, args_bytes: int, width: int) -> None:
    session.if_interrupted = (
        f"Interrupted; the queue {QUEUE} may hold jobs: awa queue drain {QUEUE}"
    )
    phases = [
        await _enqueue(session, jobs, args_bytes),
        await _drain(session, jobs, width),
    ]
    session.out.listing([asdict(phase) for phase in phases], _COLUMNS, empty="")


async def _enqueue(session: Session, jobs: int, args_bytes: int) -> Measured:
    job = NewJob(kind=KIND, args_json=_args(args_bytes))
    began, done = time.perf_counter(), 0
    with progress(session.out, "Enqueueing", jobs, "jobs") as bar:
        while done < jobs:
            chunk = [job] * min(CHUNK_JOBS, jobs - done)
            async with session.client.connection() as conn:
                done += len(await enqueue_many(conn, QUEUE, chunk))
            bar.at(done)
    return _measured("bulk enqueue", jobs, began)


async def _drain(session: Session, jobs: int, width: int) -> Measured:
    handled = 0

    async def nothing(job: Job[dict[str, Any]]) -> None:
        nonlocal handled
        handled += 1

    session.client.task(dict, kind=KIND)(nothing)
    began = time.perf_counter()
    await session.client.start([(QUEUE, width)], roles=["worker"])
    try:
        with progress(session.out, "Draining", jobs, "jobs") as bar:
            while handled < jobs:
                await asyncio.sleep(LOOK_EVERY_S)
                bar.at(handled)
    finally:
        # Part of the time: it returns when every completion has been written down.
        await session.client.shutdown()
    return _measured("claim, run, complete", jobs, began)


def _args(size: int) -> str:
    frame = '{"x":""}'
    return '{"x":"' + "x" * max(size - len(frame), 0) + '"}'


def _measured(what: str, jobs: int, began: float) -> Measured:
    seconds = time.perf_counter() - began
    return Measured(what, jobs, round(seconds, 3), round(jobs / seconds))
