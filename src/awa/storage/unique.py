"""Unique jobs: adding them, and who holds a key.

A conflict comes back as rows and is raised here, so the caller's transaction goes on as if nothing had been said.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from awa.db import run
from awa.db.run import Connection, Row
from awa.model.errors import UniqueConflict, ValidationError
from awa.storage.new_job import Inserted, NewJob, arrays, scalars, text

SET_MAX_JOBS = 10_000
SET_MAX_BYTES = 16 * 1024 * 1024


async def enqueue_one(conn: Connection, queue: str, job: NewJob) -> Inserted:
    """Adds one unique job. Raises UniqueConflict with the holder."""
    params = scalars(queue, job) | {
        "args": text(job.args_json),
        "unique_opts": Jsonb(job.unique_opts),
    }
    ((job_id, outcome, state, at),) = await run.tuples(conn, "storage/enqueue_unique", params)
    if outcome == "conflict":
        raise UniqueConflict(
            f"job {job_id} holds the unique key",
            hint=_hint(job.unique_opts),
            details={"conflicts": [{"place": 0, "job_id": job_id}]},
            job_id=job_id,
        )
    return Inserted(job_id, state, at, outcome)


async def enqueue_many(conn: Connection, queue: str, jobs: Sequence[NewJob]) -> list[Inserted]:
    """Adds a set of jobs of one queue of which some are unique, by one statement. Raises UniqueConflict, having written nothing."""
    if len(jobs) > SET_MAX_JOBS or sum(len(job.args_json) for job in jobs) > SET_MAX_BYTES:
        raise ValidationError(
            f"a set with unique jobs has at most {SET_MAX_JOBS} jobs and 16 MiB of arguments, this one has {len(jobs)} jobs",
            hint="insert it in parts",
        )
    opts = [None if job.unique_opts is None else Jsonb(job.unique_opts) for job in jobs]
    params = arrays(queue, jobs) | {"unique_opts": opts}
    rows = await run.tuples(conn, "storage/enqueue_unique_many", params)
    conflicts = [
        {"place": ord_ - 1, "job_id": job_id}
        for ord_, job_id, outcome, _, _ in rows
        if outcome == "conflict"
    ]
    if conflicts:
        first = conflicts[0]
        holder = (
            "a job before it in the list" if first["job_id"] is None else f"job {first['job_id']}"
        )
        message = f"job {first['place']} of the list: {holder} holds its unique key"
        if len(jobs) == 1:
            message = f"{holder} holds the unique key"
        raise UniqueConflict(
            message,
            hint=_hint(jobs[first["place"]].unique_opts),
            details={"conflicts": conflicts},
            job_id=first["job_id"],
        )
    return [Inserted(job_id, state, at, outcome) for _, job_id, outcome, state, at in rows]


async def holder(
    conn: Connection,
    *,
    kind: str | None,
    args_json: str | bytes,
    queue: str,
    unique_opts: dict[str, Any],
    run_at: datetime | None = None,
) -> int | None:
    """The job that holds the key which a job like this would have."""
    params = {
        "kind": kind,
        "args": text(args_json),
        "queue": queue,
        "unique_opts": Jsonb(unique_opts),
        "run_at": run_at,
    }
    found: int | None = await run.value(conn, "storage/unique_holder", params)
    return found


async def holders(conn: Connection, ids: Sequence[int]) -> dict[int, Row]:
    """These jobs, by id."""
    found = await run.rows(conn, "storage/unique_holders", {"ids": list(ids)})
    return {row["id"]: row for row in found}


async def of_job(conn: Connection, job_id: int, queue: str, state: str) -> Row | None:
    """What is unique about a job, and who holds its key; None for a job that isn't unique."""
    return await run.row(
        conn, "storage/unique_of", {"id": job_id, "queue": queue, "state": str(state)}
    )


def _hint(opts: dict[str, Any] | None) -> str | None:
    if (opts or {}).get("on_conflict") == "replace":
        return "only a job that waits can be replaced"
    return 'say in unique_opts what else may happen: "on_conflict": "ignore" or "replace"'
