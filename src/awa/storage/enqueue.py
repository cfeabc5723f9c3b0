"""Adding jobs, one or many, in the caller's transaction.

Documents travel as binary text arrays: a text-format array would escape each quote of them, which costs more
than the insert itself.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from awa.db import relay, run
from awa.db.arrays import text_array
from awa.db.run import Connection
from awa.model.errors import AwaError
from awa.storage import limited, unique
from awa.storage.new_job import Inserted, NewJob, arrays, scalars, text

__all__ = [
    "Inserted",
    "InsertedAlike",
    "NewJob",
    "enqueue",
    "enqueue_alike",
    "enqueue_many",
    "enqueue_one",
    "enqueue_portions",
    "fits_one_statement",
    "wake",
]

J = TypeVar("J")

log = logging.getLogger("awa.storage")

CHUNK_JOBS = 10_000
CHUNK_BYTES = 16 * 1024 * 1024


class InsertedAlike(NamedTuple):
    """Where the jobs of one statement went."""

    job_ids: list[int]
    state: str
    created_at: datetime


async def enqueue(conn: Connection, queue: str, job: NewJob) -> int:
    """Adds one job and answers its id."""
    return (await enqueue_one(conn, queue, job)).job_id


async def enqueue_one(
    conn: Connection, queue: str, job: NewJob, *, alone: bool = False
) -> Inserted:
    """Adds one job and answers where it went. Raises UniqueConflict, having written nothing.

    `alone`: this is a transaction by itself.
    """
    if job.unique_opts is not None:
        return await unique.enqueue_one(conn, queue, job)
    if job.concurrency_key is not None:
        (inserted,) = await limited.enqueue(conn, queue, [job])
        return inserted
    params = scalars(queue, job) | {"args": text(job.args_json)}
    statement = "storage/enqueue_alone" if alone else "storage/enqueue"
    ((job_id, state, at),) = await run.tuples(conn, statement, params)
    return Inserted(job_id, state, at)


def _woken(alone: bool) -> dict[str, str]:
    """Who wakes a sleeping worker: the transaction as it commits, or `wake` after that of one statement."""
    return {"wake": "later" if alone else ""}


async def wake(conn: Connection, queue: str) -> None:
    """Wake a worker for jobs that are committed; should that fail, it finds them when it next looks."""
    try:
        await run.tuples(conn, "storage/wake", {"queue": queue})
    except AwaError as problem:
        log.debug("nobody was woken for queue %s: %s", queue, problem)


async def enqueue_many(conn: Connection, queue: str, jobs: Sequence[NewJob]) -> list[Inserted]:
    """Adds a set of jobs of one queue, a statement per 10,000 jobs or 16 MiB; answers in the order given."""
    if any(job.unique_opts is not None for job in jobs):
        return await unique.enqueue_many(conn, queue, jobs)
    is_limited = any(job.concurrency_key is not None for job in jobs)
    inserted: list[Inserted] = []
    for chunk in _chunks(jobs, lambda job: len(job.args_json)):
        if is_limited:
            inserted += await limited.enqueue(conn, queue, chunk)
            continue
        rows = await run.tuples(conn, "storage/enqueue_many", arrays(queue, chunk))
        inserted.extend(Inserted(job_id, state, at) for _, job_id, state, at in rows)
    return inserted


async def enqueue_alike(
    conn: Connection, queue: str, like: NewJob, args_json: Sequence[bytes], *, alone: bool = False
) -> list[InsertedAlike]:
    """Adds jobs that differ from `like` in their arguments alone, the fast way; a part a statement, in order.

    `alone`: each statement is a transaction by itself.
    """
    inserted: list[InsertedAlike] = []
    wake_wanted = False
    shared = scalars(queue, like) | _woken(alone)
    for chunk in _chunks(args_json, len):
        params = shared | {"args": text_array(chunk)}
        for *done, wanted in await run.tuples(conn, "storage/enqueue_alike", params, binary=True):
            inserted.append(InsertedAlike._make(done))
            wake_wanted = wanted
    if wake_wanted:
        await wake(conn, queue)
    return inserted


async def enqueue_portions(
    conn: Connection, queue: str, like: NewJob, portions: Iterable[Sequence[bytes]]
) -> tuple[list[InsertedAlike], bool]:
    """Adds jobs as `enqueue_alike`, each portion asked for while the server is at the one before. Needs a transaction.

    Wakes nobody: the caller does, by `wake`, after the commit, if the second of what is answered says so.
    """
    shared = scalars(queue, like) | _woken(True)
    parts = (
        shared | {"args": text_array(chunk)}
        for portion in portions
        for chunk in _chunks(portion, len)
    )
    answers = await relay.tuples_of_each(conn, "storage/enqueue_alike", parts, binary=True)
    rows = [row for rows in answers for row in rows]
    return [InsertedAlike._make(done) for *done, _ in rows], any(wanted for *_, wanted in rows)


def fits_one_statement(sizes: Iterable[int], jobs: int) -> bool:
    """Whether a set of so many jobs with arguments of these sizes goes by one statement."""
    return jobs <= CHUNK_JOBS and sum(sizes) <= CHUNK_BYTES


def _chunks(jobs: Sequence[J], size_of: Callable[[J], int]) -> Iterator[Sequence[J]]:
    """Pieces of at most 10,000 jobs and 16 MiB of arguments; a single job may be larger."""
    if jobs and fits_one_statement(map(size_of, jobs), len(jobs)):
        yield jobs
        return
    chunk: list[J] = []
    size = 0
    for job in jobs:
        size += size_of(job)
        if chunk and (len(chunk) >= CHUNK_JOBS or size > CHUNK_BYTES):
            yield chunk
            chunk, size = [], size_of(job)
        chunk.append(job)
    if chunk:
        yield chunk
