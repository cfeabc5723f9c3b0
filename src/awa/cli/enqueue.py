"""`awa enqueue`: one job from the command line, or many from a file.

A file goes in as one transaction: all of it or, when a line is wrong or Ctrl-C comes, none of it.
Enqueueing takes no lock, so a long transaction makes nobody wait.
"""

import time
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Annotated, Final

import typer

from awa.cli.ndjson import JobFile, Placed, one_job
from awa.cli.output import number
from awa.cli.progress import progress
from awa.cli.session import Session, run
from awa.cli.unique import OnConflict, UniqueBy, UniqueStates, of_the_input, unique_opts
from awa.cli.values import aware_time, json_value, wrong
from awa.db.run import Connection
from awa.model import limits
from awa.model.draft import JobOptions, check_options
from awa.model.errors import UniqueConflict
from awa.storage.enqueue import Inserted, NewJob, enqueue_many, enqueue_one

CHUNK_JOBS: Final = 500


def enqueue(
    context: typer.Context,
    *,
    file: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="NDJSON, one job a line, packed with gzip or not."),
    ] = None,
    times: Annotated[
        int, typer.Option("--repeat", metavar="N", help="Everything N times over.", min=1)
    ] = 1,
    kind: Annotated[str | None, typer.Option(help="The kind of job.")] = None,
    args: Annotated[
        str | None, typer.Option(metavar="JSON", help="Its arguments, or @path.")
    ] = None,
    queue: Annotated[str, typer.Option(help="The queue.")] = limits.QUEUE_DEFAULT,
    priority: Annotated[int, typer.Option(help="1 (first) to 4.")] = limits.PRIORITY_DEFAULT,
    run_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Not before: 2026-06-01T12:00:00Z.")
    ] = None,
    max_attempts: Annotated[
        int, typer.Option(help="Give up after so many.")
    ] = limits.MAX_ATTEMPTS_DEFAULT,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be said often.")] = None,
    unique_by: UniqueBy = None,
    unique_state: UniqueStates = None,
    on_conflict: OnConflict = None,
    concurrency_key: Annotated[
        str | None, typer.Option(help="Of the jobs with this key only some run at once.")
    ] = None,
    concurrency_limit: Annotated[
        int | None, typer.Option(metavar="N", help="How many of them: 1 unless said otherwise.")
    ] = None,
) -> None:
    """Add jobs. With --file, the other options are for lines that don't say it themselves."""
    defaults: JobOptions = {
        "kind": kind,
        "queue": queue,
        "priority": priority,
        "run_at": aware_time(run_at, "--run-at"),
        "max_attempts": max_attempts,
        "tags": tag or None,
        "unique_opts": unique_opts(unique_by, unique_state, on_conflict),
        "concurrency_key": concurrency_key,
        "concurrency_limit": concurrency_limit,
    }
    check_options(defaults)
    if file is None:
        placed = _one(defaults, args)
        if times == 1:
            run(context, lambda session: _enqueue_one(session, placed))
        else:
            run(context, lambda session: _enqueue_all(session, repeat(placed, times), times))
    elif args is not None:
        raise wrong("--args", "--args is for a single job, not for --file", "Lines have their own.")
    else:
        jobs = JobFile(file)
        source = chain.from_iterable(jobs.jobs(defaults) for _ in repeat(None, times))
        run(context, lambda session: _enqueue_all(session, source, jobs.count() * times))


_WHAT: Final = 'Say --kind send_email --args \'{"to": "ada@example.org"}\', or --file jobs.ndjson.'


def _one(defaults: JobOptions, args: str | None) -> Placed:
    if defaults["kind"] is None:
        raise wrong("--kind", "neither --kind nor --file was given", _WHAT)
    return one_job({} if args is None else {"args": json_value(args, "--args")}, defaults)


_HELD: Final = {"ignored": "stays as it is", "replaced": "was replaced"}


async def _enqueue_one(session: Session, placed: Placed) -> None:
    session.if_interrupted = "Interrupted; nothing was enqueued."
    queue, job = placed
    async with session.client.connection() as conn:
        try:
            done = await enqueue_one(conn, queue, job)
        except UniqueConflict as conflict:
            raise of_the_input(conflict) from None
    result = {"id": done.job_id, "state": done.state, "queue": queue, "enqueued": 1}
    if done.insertion == "inserted":
        session.out.result(result, f"Enqueued as job {done.job_id}, {done.state} in {queue}.")
        return
    result |= {"enqueued": 0, "insertion": done.insertion}
    session.out.result(result, f"Job {done.job_id} has the unique key and {_HELD[done.insertion]}.")


async def _enqueue_all(session: Session, source: Iterator[Placed], total: int) -> None:
    """All of them in one transaction, a part at a time, so that neither memory nor patience is strained."""
    session.if_interrupted = "Interrupted; nothing was enqueued."
    began = time.monotonic()
    states: Counter[str] = Counter()
    with progress(session.out, "Enqueueing", total, "jobs") as bar:
        async with session.client.connection() as conn, conn.transaction():
            for chunk in _chunks(source):
                done = await _insert(conn, chunk, states.total())
                states.update(job.state or job.insertion for job in done)
                bar.at(states.total())
    seconds = time.monotonic() - began
    held = {insertion: states[insertion] for insertion in _HELD if states[insertion]}
    enqueued = states.total() - sum(held.values())
    rate = enqueued / seconds
    told = "".join(f", {number(jobs, 'job')} {insertion}" for insertion, jobs in held.items())
    session.out.result(
        {"enqueued": enqueued, "seconds": seconds, "rate_per_s": rate, **states},
        f"Enqueued {number(enqueued, 'job')} in {seconds:.1f} s ({rate:,.0f}/s){told}.",
    )


async def _insert(conn: Connection, chunk: list[Placed], before: int) -> list[Inserted]:
    """One statement for each queue of the chunk; within a queue the order of the file is kept."""
    by_queue: dict[str, list[tuple[int, NewJob]]] = {}
    for place, (queue, job) in enumerate(chunk, before):
        by_queue.setdefault(queue, []).append((place, job))
    inserted: list[Inserted] = []
    for queue, placed in by_queue.items():
        try:
            inserted += await enqueue_many(conn, queue, [job for _, job in placed])
        except UniqueConflict as conflict:
            raise of_the_input(conflict, [place for place, _ in placed]) from None
    return inserted


def _chunks(source: Iterator[Placed]) -> Iterator[list[Placed]]:
    while chunk := list(islice(source, CHUNK_JOBS)):
        yield chunk
