"""One job at a time: cancel, retry, another priority, another queue, by the functions that change sets.

A job can be claimed, finished or locked between any two looks at it. So each of these asks the database
to do it, and where that did nothing asks why; "someone else holds it just now" is tried again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Any, Final

from awa.db.run import Connection
from awa.model.errors import AwaError, Conflict, NotFound, UniqueConflict
from awa.model.filter import JobFilter
from awa.model.job import Job, job_from_row
from awa.model.limits import (
    JOB_ID_MAX,
    PAGE_DEFAULT_ROWS,
    check_page,
    check_priority,
    check_queue,
    check_reason,
    check_whole_number,
)
from awa.model.states import JobState
from awa.operations.compile import compile_filter
from awa.storage import change, queues, read

# How long a job that others keep locked is tried again.
LOCKED_TIMEOUT_S: Final = 5.0
LOCKED_PAUSE_S: Final = 0.02
DRAIN_PAGE_JOBS: Final = 1_000
# Listing costs the whole backlog each time, cancelled jobs included, so many pages are listed at once.
DRAIN_LIST_JOBS: Final = 100_000


async def get_job(conn: Connection, job_id: int) -> Job[Any]:
    """The job with this id. Raises NotFound."""
    row = await read.get_job(conn, check_job_id(job_id))
    if row is None:
        raise NotFound(
            f"there is no job {job_id}", hint="it may have been removed after its retention"
        )
    return job_from_row(row)


async def list_jobs(
    conn: Connection,
    given: JobFilter,
    *,
    limit: int = PAGE_DEFAULT_ROWS,
    before_id: int | None = None,
) -> list[Job[Any]]:
    """A page of jobs, newest first; the next page begins before the last id of this one."""
    predicate = compile_filter(given)
    rows = await read.list_jobs(
        conn,
        predicate.sql,
        predicate.params,
        limit=check_page(limit),
        before_id=None if before_id is None else check_job_id(before_id, field="before_id"),
        state=given.state,
    )
    return [job_from_row(row) for row in rows]


async def cancel_job(
    conn: Connection,
    job_id: int,
    *,
    reason: str | None = None,
    still: Callable[[], Awaitable[None]] | None = None,
) -> Job[Any]:
    """Cancel a waiting or running job; a running handler is told. Raises NotFound, and Conflict if it has ended.

    `still` is asked when the job is locked, and may raise to have it left alone.
    """
    reason = check_reason(reason)

    async def waiting(locked: list[change.Waiting]) -> bool:
        if still is not None:
            await still()
        return bool(await change.cancel_waiting(conn, locked, reason=reason))

    async def claimed() -> bool:
        if still is not None:
            await still()
        return bool(await change.cancel_running(conn, [job_id], reason=reason))

    return await _change(conn, job_id, "cancelled", waiting, claimed)


async def set_job_priority(conn: Connection, job_id: int, priority: int) -> Job[Any]:
    """Give a waiting job another priority. Raises NotFound, and Conflict if it doesn't wait."""
    check_priority(priority)

    async def waiting(locked: list[change.Waiting]) -> bool:
        return _relocated(await change.relocate(conn, locked, priority=priority))

    return await _change(conn, job_id, "given another priority", waiting)


async def move_job(
    conn: Connection, job_id: int, queue: str, priority: int | None = None
) -> Job[Any]:
    """Put a waiting job into another queue, with another priority if one is given. Raises as set_job_priority."""
    check_queue(queue)
    if priority is not None:
        check_priority(priority)

    async def waiting(locked: list[change.Waiting]) -> bool:
        return _relocated(await change.relocate(conn, locked, queue=queue, priority=priority))

    return await _change(conn, job_id, "moved", waiting)


async def retry_job(conn: Connection, job_id: int) -> Job[Any]:
    """Run a failed, cancelled, retryable or scheduled job now. Raises NotFound, and Conflict in other states."""
    retried = await change.retry_jobs(conn, [check_job_id(job_id)])
    job = await get_job(conn, job_id)
    check_retried(job_id, retried)
    if not retried:
        raise _conflict(job, "retried")
    return job


def check_retried(job_id: int, retried: Sequence[change.Retried]) -> None:
    """Refuse with UniqueConflict, or Conflict if nobody can tell yet, where the job stays for its unique key."""
    for one in retried:
        if one.outcome == "unique_conflict":
            raise UniqueConflict(
                f"job {job_id} can't be retried: job {one.holder} holds its unique key",
                hint="retry it when that job has ended, or cancel that one",
                job_id=one.holder,
            )
        if one.outcome == "locked":
            raise Conflict(
                f"job {job_id} can't be retried now: an open transaction has its unique key in its hands",
                hint="try again when that transaction has ended",
            )


async def drain_queue(conn: Connection, queue: str, *, reason: str | None = None) -> int:
    """Cancel everything that waits in a queue; answers how many. What runs goes on."""
    check_queue(queue)
    reason = check_reason(reason)
    drained, after_id = 0, 0
    while ids := await queues.waiting_ids(conn, queue, after_id=after_id, limit=DRAIN_LIST_JOBS):
        for first in range(0, len(ids), DRAIN_PAGE_JOBS):
            page = ids[first : first + DRAIN_PAGE_JOBS]
            drained += await drain_page(conn, queue, page, reason=reason)
        after_id = ids[-1]
        if len(ids) < DRAIN_LIST_JOBS:
            break
    return drained


async def drain_page(
    conn: Connection, queue: str, ids: Sequence[int], *, reason: str | None = None
) -> int:
    """Cancel those of these jobs that still wait in the queue, in one transaction; answers how many."""
    said = reason or "the queue was drained"
    async with conn.transaction():
        locked = await change.lock_waiting(conn, ids)
        here = [job for job in locked if job.queue == queue]
        return len(await change.cancel_waiting(conn, here, reason=said)) if here else 0


def check_job_id(job_id: object, *, field: str = "id") -> int:
    """A job id: a whole number above 0."""
    return check_whole_number(job_id, field, 1, JOB_ID_MAX)


async def _change(
    conn: Connection,
    job_id: int,
    done: str,
    waiting: Callable[[list[change.Waiting]], Awaitable[bool]],
    claimed: Callable[[], Awaitable[bool]] | None = None,
) -> Job[Any]:
    """Lock the waiting job and change it, or find out why that can't be."""
    check_job_id(job_id)
    until_s = monotonic() + LOCKED_TIMEOUT_S
    while True:
        async with conn.transaction():
            locked = await change.lock_waiting(conn, [job_id])
            if locked and await waiting(locked):
                break
        why = (await change.explain_not_waiting(conn, [job_id])).get(job_id, "not_found")
        if why == "claimed" and claimed is not None and await claimed():
            break
        if why not in ("locked", "claimed") or (why == "claimed" and claimed is None):
            raise _conflict(await get_job(conn, job_id), done)
        if monotonic() > until_s:
            raise Conflict(
                f"job {job_id} is held by another transaction for {LOCKED_TIMEOUT_S:g} s now",
                hint="try again when that transaction has ended",
            )
        await asyncio.sleep(LOCKED_PAUSE_S)
    return await get_job(conn, job_id)


def _relocated(outcomes: list[change.Relocated]) -> bool:
    """Whether the job is where it should be, by this call or already."""
    for outcome in outcomes:
        if outcome.outcome == "waiting_external":
            raise Conflict(
                f"job {outcome.job_id} waits for a callback and can't be moved or reprioritised",
                hint="answer the callback, or cancel the job",
                details={"state": "waiting_external"},
            )
        if outcome.outcome == "unique_conflict":
            raise UniqueConflict(
                f"job {outcome.job_id} can't be moved: {outcome.detail}", job_id=outcome.holder
            )
    return any(outcome.outcome != "locked" for outcome in outcomes)


def _conflict(job: Job[Any], done: str) -> AwaError:
    waits = job.state is JobState.WAITING_EXTERNAL
    return Conflict(
        f"job {job.id} is {job.state} and can't be {done}",
        hint="it waits for a callback: answer that instead" if waits else None,
        details={"state": str(job.state)},
    )
