"""Reading jobs: one by id, or a page by a compiled filter."""

from collections.abc import Mapping
from typing import Final

from psycopg import sql

from awa.db import run
from awa.db.run import Connection, Params, Row
from awa.model.states import JobState

# Up to so many waiting jobs are read all, to find a page of them; above it the page is among the newest jobs.
FEW_WAITING_JOBS: Final = 5_000
# What may have come between that look and the page.
BACKLOG_MAX_JOBS: Final = 10_000

_EVERYWHERE: Final = ("lanes", "deferred", "finished")
# Where the jobs of each state are; a state that isn't here can be everywhere.
_PLACES: Final[Mapping[JobState, tuple[str, ...]]] = {
    JobState.AVAILABLE: ("lanes",),
    JobState.RUNNING: ("running",),
    JobState.WAITING_EXTERNAL: ("running",),
    JobState.COMPLETED: ("lanes", "finished"),
    JobState.SCHEDULED: ("deferred",),
    JobState.RETRYABLE: ("deferred",),
    JobState.FAILED: ("finished",),
    JobState.CANCELLED: ("finished",),
}


async def get_job(conn: Connection, job_id: int) -> Row | None:
    """The job's row of `awa.jobs`, or None."""
    return await run.row(conn, "storage/get_job", {"id": job_id})


async def list_jobs(
    conn: Connection,
    predicate: sql.Composable,
    params: Params,
    *,
    limit: int,
    before_id: int | None = None,
    state: JobState | None = None,
) -> list[Row]:
    """A page of jobs, newest first; `predicate` speaks of alias j (see `awa.operations.compile`).

    `state` is the one that the predicate asks for, if it does: only the places of such jobs are read.
    """
    places = await _places(conn, state)
    pages = [run.statement(f"storage/places/{name}").format(predicate=predicate) for name in places]
    statement = run.statement("storage/list_jobs").format(
        places=sql.SQL("\nUNION ALL\n").join(pages)
    )
    more = {"before_id": before_id, "max_rows": limit, "backlog_max": BACKLOG_MAX_JOBS}
    return await run.rows_of(conn, statement, {**params, **more})


async def _places(conn: Connection, state: JobState | None) -> tuple[str, ...]:
    if state is JobState.AVAILABLE and not await run.value(
        conn, "storage/backlog_exceeds", {"jobs": FEW_WAITING_JOBS}
    ):
        return ("backlog",)
    return _EVERYWHERE if state is None else _PLACES.get(state, _EVERYWHERE)
