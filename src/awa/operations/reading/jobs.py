"""Jobs by filter: a page of them, newest first."""

from dataclasses import dataclass

from awa.db.run import Connection, Row
from awa.model.filter import JobFilter
from awa.model.limits import JOB_ID_MAX, PAGE_DEFAULT_ROWS, check_page
from awa.model.masking import DEFAULT_MASK, Mask
from awa.operations.reading.bounds import bounded
from awa.operations.reading.counting import count, counts_by_state
from awa.operations.reading.cursors import decode_job, encode
from awa.operations.reading.job import detail
from awa.operations.reading.walk import NARROW_HINT, Walk

__all__ = ["Page", "count", "counts_by_state", "detail", "look", "page"]


@dataclass(frozen=True, slots=True)
class Page:
    """Some jobs, the cursor to go on from, and how many that match wait in lanes, where that is known."""

    rows: list[Row]
    next_cursor: str | None
    waiting: int | None = None


async def page(
    conn: Connection,
    given: JobFilter,
    *,
    limit: int = PAGE_DEFAULT_ROWS,
    cursor: str | None = None,
    mask: Mask = DEFAULT_MASK,
) -> tuple[list[Row], str | None]:
    """Jobs, newest first, secrets hidden, and the cursor to go on from; None is the end.

    A page may be short or empty while there is a cursor: it stops looking after `walk.WALK_BUDGET_S`.
    Raises ValidationError for a bad limit or cursor, and TooSlow if not even one stretch could be read in time.
    """
    found = await look(conn, given, limit=limit, cursor=cursor, mask=mask)
    return found.rows, found.next_cursor


async def look(
    conn: Connection,
    given: JobFilter,
    *,
    limit: int = PAGE_DEFAULT_ROWS,
    cursor: str | None = None,
    mask: Mask = DEFAULT_MASK,
) -> Page:
    """The same, with what it came to know on the way."""
    check_page(limit)
    before_id = decode_job(cursor)
    if given.matches_nothing():
        return Page([], None)
    walk = Walk(conn, given, limit + 1, before_id or JOB_ID_MAX)
    async with bounded(conn, "this page of jobs", NARROW_HINT):
        await walk.go()
    more = len(walk.rows) > limit
    rows = [mask.row(row)[0] for row in walk.rows[:limit]]
    below = rows[-1]["id"] if more else walk.below
    return Page(rows, encode(str(below)) if below > 1 else None, walk.waiting)
