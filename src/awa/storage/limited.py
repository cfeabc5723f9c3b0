"""Jobs with concurrency keys: adding them, letting parked ones into their lanes, and asking how a key stands."""

from collections.abc import Sequence
from typing import NamedTuple

from awa.db import run
from awa.db.run import Connection, Row
from awa.storage.new_job import Inserted, NewJob, arrays


class Admitted(NamedTuple):
    """How many jobs were let in, the key after which to go on, and whether there are more."""

    jobs: int
    last_key: str | None
    more: bool


async def enqueue(conn: Connection, queue: str, jobs: Sequence[NewJob]) -> list[Inserted]:
    """Adds a set of jobs of one queue of which some have concurrency keys, by one statement; in the order given."""
    rows = await run.tuples(conn, "storage/enqueue_limited", arrays(queue, jobs))
    return [Inserted(job_id, state, at) for _, job_id, state, at in rows]


async def admit_waiting(conn: Connection, *, after: str | None, max_keys: int) -> Admitted:
    """Looks through keys with parked jobs and lets in what has room."""
    params = {"after": after, "max_keys": max_keys}
    found = await run.row(conn, "storage/admit_waiting", params)
    assert found is not None
    return Admitted(found["admitted"], found["last_key"], found["more"])


async def concurrency_of(conn: Connection, job_id: int) -> Row | None:
    """The key of a job, its limit, how many places of the key are used, and whether the job has one of them."""
    return await run.row(conn, "storage/concurrency_of", {"id": job_id})
