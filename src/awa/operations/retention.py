"""Deletes operations that ended long ago, in chunks: a million items do not become one statement.

An operation keeps its row until its last item is gone, so a deletion that stops half way is simply
gone on with. Operations that have not ended have no retention and are never asked for, and one that is being
undone stays until its undo has ended.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from awa.db import run
from awa.db.run import Connection
from awa.model.errors import invalid_field

CHUNK_ITEMS: Final = 5_000


async def run_once(conn: Connection, now: datetime | None = None) -> int:
    """Delete one chunk of what has expired; returns the rows deleted.

    The duty's bound is `CHUNK_ITEMS`: if so many were deleted there is more to do at once. An
    operation that went as a whole counts its row too, so several small ones follow each other.
    """
    deleted = 0
    while deleted < CHUNK_ITEMS:
        done = await _chunk(conn, None, now)
        deleted += done["items"] + done["operations"]
        if not done["found"]:
            break
    return min(deleted, CHUNK_ITEMS)


@dataclass(frozen=True, slots=True)
class Purged:
    """What one chunk of a purge deleted; not `more`: nothing is left that ended before the time."""

    operations: int
    items: int
    more: bool


async def purge(conn: Connection, before: datetime, *, now: datetime | None = None) -> int:
    """Delete all operations that ended before a time, whatever their retention; returns how many."""
    operations = 0
    while True:
        done = await purge_chunk(conn, before, now=now)
        operations += done.operations
        if not done.more:
            return operations


async def purge_chunk(conn: Connection, before: datetime, *, now: datetime | None = None) -> Purged:
    """Delete at most `CHUNK_ITEMS` items of one operation that ended before a time, and itself with its last."""
    if before.utcoffset() is None:
        raise invalid_field("before", f"expected a time with a UTC offset, got {before!r}")
    if before > (now or datetime.now(UTC)):
        raise invalid_field("before", f"must not lie in the future, got {before.isoformat()}")
    done = await _chunk(conn, before, now)
    return Purged(done["operations"], done["items"], more=bool(done["found"]))


async def _chunk(conn: Connection, before: datetime | None, now: datetime | None) -> dict[str, Any]:
    """What one transaction did; nothing of an operation that is being undone."""
    async with conn.transaction():
        chosen = await run.value(conn, "operations/expired", {"before": before, "now": now})
        if chosen is None:
            return {"found": False, "items": 0, "operations": 0}
        done = await run.row(conn, "operations/expire", {"id": chosen, "items": CHUNK_ITEMS})
    assert done is not None, "a select without FROM returns a row"
    return {"found": True, **done}
