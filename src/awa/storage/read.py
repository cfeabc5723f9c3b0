"""Reading jobs: one by id, a page by a compiled filter, or one stretch of a page after the other."""

from collections.abc import Mapping, Sequence
from typing import Final

from psycopg import sql

from awa.db import run
from awa.db.run import Connection, Params, Row
from awa.model.states import JobState

# Up to so many waiting jobs are read all, to find a page of them; above it the page is among the newest jobs.
FEW_WAITING_JOBS: Final = 120_000
# What may have come between that look and the page.
BACKLOG_MAX_JOBS: Final = 150_000

EVERYWHERE: Final = ("lanes", "deferred", "finished")
# Where the jobs of each state are; a state that isn't here can be everywhere.
PLACES: Final[Mapping[JobState | None, tuple[str, ...]]] = {
    JobState.AVAILABLE: ("lanes",),
    JobState.RUNNING: ("running",),
    JobState.WAITING_EXTERNAL: ("running",),
    JobState.COMPLETED: ("lanes", "finished"),
    JobState.SCHEDULED: ("deferred",),
    JobState.RETRYABLE: ("deferred",),
    JobState.FAILED: ("finished",),
    JobState.CANCELLED: ("finished",),
}
# Places that are read whole, so that nothing is gained by reading them in stretches of ids.
WHOLE: Final = frozenset({"backlog", "running"})

TRUE: Final = sql.SQL("true")


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
    where = PLACES.get(state, EVERYWHERE)
    if state is JobState.AVAILABLE and await backlog_is_small(conn):
        where = ("backlog",)
    return await stretch(conn, where, predicate, params, limit=limit, before_id=before_id)


async def stretch(
    conn: Connection,
    where: Sequence[str],
    predicate: sql.Composable,
    params: Params,
    *,
    limit: int,
    before_id: int | None = None,
    from_id: int = 0,
    of_lane: sql.Composable = TRUE,
) -> list[Row]:
    """The newest jobs of these places with ids from `from_id` to below `before_id`.

    `of_lane` is what of the predicate a lane alone can answer; it is used where the backlog is read whole.
    """
    pages = [
        run.statement(f"storage/places/{name}").format(predicate=predicate, places=of_lane)
        for name in where
    ]
    statement = run.statement("storage/list_jobs").format(
        places=sql.SQL("\nUNION ALL\n").join(pages)
    )
    more = {
        "before_id": before_id,
        "from_id": from_id,
        "max_rows": limit,
        "backlog_max": BACKLOG_MAX_JOBS,
    }
    return await run.rows_of(conn, statement, {**params, **more})


async def backlog_is_small(
    conn: Connection, of_lane: sql.Composable = TRUE, params: Params | None = None
) -> bool:
    """Whether so few jobs wait in these lanes that they can be read all."""
    statement = run.statement("storage/backlog_exceeds").format(places=of_lane)
    (found,) = await run.rows_of(conn, statement, {**(params or {}), "jobs": FEW_WAITING_JOBS})
    return not found["exceeds"]


async def newest_below(conn: Connection, where: Sequence[str], before_id: int | None) -> int | None:
    """The greatest id of a job below `before_id` in these places, or None."""
    params = {name: name in where for name in EVERYWHERE}
    found = await run.value(conn, "storage/newest_below", {**params, "before_id": before_id})
    return None if found is None else int(found)


async def newest_passed(
    conn: Connection, of_lane: sql.Composable = TRUE, params: Params | None = None
) -> int | None:
    """An id above which no job of these lanes lies before its lane's cursor; None where nobody ever claimed."""
    statement = run.statement("storage/newest_passed").format(places=of_lane)
    (found,) = await run.rows_of(conn, statement, params or {})
    return None if found["newest"] is None else int(found["newest"])
