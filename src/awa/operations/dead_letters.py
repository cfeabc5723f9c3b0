"""Dead letters as operators see them: which there are and why, another life, or the end.

A job that fails for good in a queue that asks for it is marked with the reason; it keeps its attempts and all it had.
Retrying and purging take the mark and the job in one step, so of two that want the same job one gets it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from awa.db.run import Connection
from awa.model.draft import check_run_at
from awa.model.errors import Conflict, invalid_field
from awa.model.job import Job
from awa.model.limits import (
    FILTER_IDS_MAX_COUNT,
    JOB_ID_MAX,
    PAGE_DEFAULT_ROWS,
    check_kind,
    check_page,
    check_priority,
    check_queue,
)
from awa.operations.reading import cursors
from awa.operations.reading.bounds import clock
from awa.operations.single import check_job_id, check_retried, get_job
from awa.storage import dead_letters
from awa.storage.change import moved
from awa.storage.dead_letters import Which

CHUNK_JOBS: Final = 1_000
# Why a job became a dead letter.
REASONS: Final = ("attempts_exhausted", "terminal_error", "callback_failed")

Row = dict[str, Any]
# Does up to CHUNK_JOBS above an id; answers how many, and the id to go on above (None: the end).
Chunk = Callable[[int], Awaitable[tuple[int, int | None]]]


def which(
    *,
    queue: str | None = None,
    kind: str | None = None,
    fingerprint: str | None = None,
    reason: str | None = None,
    before: datetime | None = None,
) -> Which:
    """Check a choice of dead letters. Raises ValidationError."""
    return Which(
        queue=None if queue is None else check_queue(queue),
        kind=None if kind is None else check_kind(kind),
        fingerprint=None if fingerprint is None else check_queue(fingerprint, field="fingerprint"),
        reason=None if reason is None else _check_reason(reason),
        before=None if before is None else check_run_at(before, field="before"),
    )


async def page(
    conn: Connection, chosen: Which, *, limit: int = PAGE_DEFAULT_ROWS, cursor: str | None = None
) -> tuple[list[Row], str | None]:
    """Dead letters with their jobs, newest first, and the cursor of the next page if there is one."""
    after = _place(cursor)
    rows = await dead_letters.page(conn, chosen, after=after, max_rows=check_page(limit) + 1)
    shown = rows[:limit]
    more = len(rows) > limit
    last = f"{shown[-1]['dlq_at'].isoformat()} {shown[-1]['id']}" if more else ""
    return shown, cursors.encode(last) if more else None


async def frozen(conn: Connection, chosen: Which) -> Which:
    """The choice as it is now: letters that come later are not in it, so what is confirmed is what was counted."""
    now = await clock(conn)
    return replace(chosen, before=now if chosen.before is None else min(chosen.before, now))


async def chunk_by_chunk(
    chunk: Chunk, *, goes_on: Callable[[int], bool] = lambda _done: True
) -> tuple[int, bool]:
    """Do chunks until there are no more, or `goes_on`, told how many are done, says no; answers how many, and whether there are more."""
    done, above = 0, 0
    while True:
        some, following = await chunk(above)
        done += some
        wanted = goes_on(done)
        if following is None or not wanted:
            return done, following is not None
        above = following


async def retry_one(
    conn: Connection,
    job_id: int,
    *,
    queue: str | None = None,
    priority: int | None = None,
    run_at: datetime | None = None,
) -> Job[Any]:
    """Give one dead letter all its attempts again.

    Raises NotFound, Conflict if it isn't one, and UniqueConflict if another job has its unique key: it stays one.
    """
    check_job_id(job_id)
    _check_destination(queue, priority, run_at)
    done = await dead_letters.retry(conn, [job_id], queue=queue, priority=priority, run_at=run_at)
    job = await get_job(conn, job_id)
    check_retried(job_id, done)
    if not done:
        raise Conflict(
            f"job {job_id} is {job.state} and no dead letter", details={"state": str(job.state)}
        )
    return job


async def retry_chunk(
    conn: Connection,
    chosen: Which,
    *,
    above: int,
    queue: str | None = None,
    priority: int | None = None,
    run_at: datetime | None = None,
    kept: list[int] | None = None,
) -> tuple[int, int | None]:
    """Retry up to 1,000 by choice, with ids above `above`; answers how many, and where to go on (None: the end).

    Those that stay dead letters because another job has their unique key are added to `kept`.
    """
    _check_destination(queue, priority, run_at)
    ids = await dead_letters.ids(conn, chosen, above=above, max_rows=CHUNK_JOBS)
    done = await dead_letters.retry(conn, ids, queue=queue, priority=priority, run_at=run_at)
    if kept is not None:
        kept += sorted(one.job_id for one in done if one.outcome != "moved")
    return len(moved(done)), _next(ids)


async def purge_chunk(conn: Connection, chosen: Which, *, above: int) -> tuple[int, int | None]:
    """Delete up to 1,000 by choice, with ids above `above`; answers as `retry_chunk`."""
    ids = await dead_letters.ids(conn, chosen, above=above, max_rows=CHUNK_JOBS)
    return await dead_letters.purge(conn, ids), _next(ids)


async def purge(conn: Connection, ids: Sequence[int]) -> int:
    """Delete these dead letters for good; answers how many there were."""
    if len(ids) > FILTER_IDS_MAX_COUNT:
        raise Conflict(f"at most {FILTER_IDS_MAX_COUNT} ids at once, got {len(ids)}")
    return await dead_letters.purge(conn, [check_job_id(job_id) for job_id in ids])


async def enable(conn: Connection, queue: str, enabled: bool) -> Row:
    """Say whether jobs of a queue that fail from now on become dead letters. The queue need not have held a job yet."""
    if not isinstance(enabled, bool):
        raise invalid_field("enabled", f"expected True or False, got {enabled!r}")
    return await dead_letters.enable(conn, check_queue(queue), enabled)


def _check_reason(reason: object) -> str:
    if reason not in REASONS:
        raise invalid_field("reason", f"expected one of {', '.join(REASONS)}, got {reason!r}")
    return str(reason)


def _place(cursor: str | None) -> tuple[datetime, int] | None:
    """The row after which a page goes on."""
    if cursor is None:
        return None
    at, _, job_id = cursors.decode(cursor).partition(" ")
    try:
        place = datetime.fromisoformat(at), int(job_id)
    except ValueError:
        raise cursors.refused(cursor) from None
    if place[0].utcoffset() is None or not 0 < place[1] <= JOB_ID_MAX:
        raise cursors.refused(cursor)
    return place


def _check_destination(queue: str | None, priority: int | None, run_at: datetime | None) -> None:
    if queue is not None:
        check_queue(queue)
    if priority is not None:
        check_priority(priority)
    if run_at is not None:
        check_run_at(run_at)


def _next(ids: Sequence[int]) -> int | None:
    return ids[-1] if len(ids) == CHUNK_JOBS else None
