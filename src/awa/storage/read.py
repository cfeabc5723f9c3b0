"""Reading jobs: one by id, a page by a compiled filter, or one stretch of a page after the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from psycopg import sql

from awa.db import run
from awa.db.run import Connection, Params, Row
from awa.model.states import JobState

# A page that goes down to where jobs wait looks at so many jobs that were claimed.
PASSED_MAX_JOBS: Final = 60_000
# Up to so many waiting jobs are read all, to find a page of them; above it the page is among the newest jobs.
FEW_WAITING_JOBS: Final = 120_000

EVERYWHERE: Final = ("lanes", "deferred", "finished")
# Where the jobs of each state are; a state that isn't here can be everywhere.
PLACES: Final[Mapping[JobState | None, tuple[str, ...]]] = {
    JobState.AVAILABLE: ("lanes", "deferred"),
    JobState.RUNNING: ("running",),
    JobState.WAITING_EXTERNAL: ("deferred",),
    JobState.COMPLETED: ("lanes", "finished"),
    JobState.SCHEDULED: ("deferred",),
    JobState.RETRYABLE: ("deferred",),
    JobState.FAILED: ("finished",),
    JobState.CANCELLED: ("finished",),
}
# Places that are read whole, so that nothing is gained by reading them in stretches of ids.
WHOLE: Final = frozenset({"running"})

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
    if state is JobState.AVAILABLE:
        found = await waiting_page(conn, predicate, params, limit=limit, before_id=before_id)
        if found is not None:
            return found.rows
    where = PLACES.get(state, EVERYWHERE)
    return await stretch(conn, where, predicate, params, limit=limit, before_id=before_id)


@dataclass(frozen=True, slots=True)
class Found:
    """Jobs that were found from those that wait; all that match, from `to_id` on up, have been seen.

    `waiting` is how many that match wait in lanes, on whatever page.
    """

    rows: list[Row]
    to_id: int
    waiting: int


async def waiting_page(
    conn: Connection,
    predicate: sql.Composable,
    params: Params,
    *,
    limit: int,
    before_id: int | None = None,
    queues: list[str] | None = None,
    priority: int | None = None,
) -> Found | None:
    """The newest jobs that wait in lanes, found by looking at all; None where they are too many for that.

    `queues` and `priority` are what of the predicate a lane alone can answer: no others are looked at.
    """
    statement = run.statement("storage/waiting_page").format(predicate=predicate)
    more = {
        "before_id": before_id,
        "max_rows": limit,
        "jobs": FEW_WAITING_JOBS,
        "lane_queues": queues,
        "lane_priority": priority,
    }
    rows = await run.rows_of(conn, statement, {**params, **more})
    (looked,) = {row.pop("looked") for row in rows}
    return None if looked > FEW_WAITING_JOBS else _found(rows, 1)


async def page_down_to_waiting(
    conn: Connection,
    predicate: sql.Composable,
    params: Params,
    *,
    places: sql.Composable,
    raw: sql.Composable,
    limit: int,
    before_id: int | None = None,
    waiting_max: int = FEW_WAITING_JOBS,
) -> Found | None:
    """The newest jobs wherever they are, as far down as jobs wait; None where there are too many of those, or none.

    `places` is what of the predicate a lane can answer and `raw` what the row in a lane can; `params` has the parameters of all,
    and those of the lanes.
    """
    statement = run.statement("storage/page_down_to_waiting").format(
        predicate=predicate, places=places, raw=raw
    )
    more = {
        "before_id": before_id,
        "max_rows": limit,
        "jobs": waiting_max,
        "passed_max": PASSED_MAX_JOBS,
    }
    rows = await run.rows_of(conn, statement, {**params, **more})
    (to_id,) = {row.pop("to_id") for row in rows}
    return None if to_id is None else _found(rows, to_id)


def _found(rows: list[Row], to_id: int) -> Found:
    (waiting,) = {row.pop("waiting") for row in rows}
    return Found([row for row in rows if row["id"] is not None], to_id, waiting)


async def stretch(
    conn: Connection,
    where: Sequence[str],
    predicate: sql.Composable,
    params: Params,
    *,
    limit: int,
    before_id: int | None = None,
    from_id: int = 0,
) -> list[Row]:
    """The newest jobs of these places with ids from `from_id` to below `before_id`."""
    pages = [run.statement(f"storage/places/{name}").format(predicate=predicate) for name in where]
    statement = run.statement("storage/list_jobs").format(
        places=sql.SQL("\nUNION ALL\n").join(pages)
    )
    more = {"before_id": before_id, "from_id": from_id, "max_rows": limit}
    return await run.rows_of(conn, statement, {**params, **more})


async def next_stretch(
    conn: Connection, where: Sequence[str], before_id: int | None, rows: int
) -> tuple[int, int]:
    """The greatest id of a job below `before_id` in these places, and the one that `rows` rows reach down to.

    Both are 0 where there is no job, the second is 1 where there are fewer rows.
    """
    params = {name: name in where for name in EVERYWHERE}
    found = await run.row(
        conn, "storage/next_stretch", {**params, "before_id": before_id, "rows": rows}
    )
    assert found is not None
    newest = int(found["newest"] or 0)
    return newest, int(found["least"] or min(1, newest))


async def newest_passed(
    conn: Connection, of_lane: sql.Composable = TRUE, params: Params | None = None
) -> int | None:
    """An id above which no job of these lanes lies before its lane's cursor; None where nobody ever claimed."""
    statement = run.statement("storage/newest_passed").format(places=of_lane)
    (found,) = await run.rows_of(conn, statement, params or {})
    return None if found["newest"] is None else int(found["newest"])
