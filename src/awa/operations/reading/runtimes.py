"""Runtimes: who is there, who leads, what each holds."""

from typing import Any, Final
from uuid import UUID

from awa.db import run
from awa.db.run import Connection, Row
from awa.model.limits import PAGE_DEFAULT_ROWS, check_page
from awa.operations.reading.bounds import bounded
from awa.operations.reading.cursors import decode_moment, encode_moment
from awa.operations.reading.looks import Look, first, look

HELD_LOOKED_MAX: Final = 50_000
# Silence after which a runtime alive is shown as stale; the leader declares it dead after twice as long (by default).
STALE_AFTER_S: Final = 15.0


async def page(
    conn: Connection,
    *,
    limit: int = PAGE_DEFAULT_ROWS,
    cursor: str | None = None,
    include_ended: bool = False,
    queue: str | None = None,
    stale_after_s: float = STALE_AFTER_S,
) -> tuple[list[Row], str | None]:
    """Runtimes, newest first, and the cursor of the next page; those that ended only with `include_ended`."""
    check_page(limit)
    before_at, before_id = decode_moment(cursor)
    params = {
        "before_at": before_at,
        "before_id": before_id,
        "with_ended": include_ended,
        "queue": queue,
        "max_rows": limit + 1,
    }
    async with bounded(conn, "this page of runtimes", "try again in a moment"):
        found = await run.rows(conn, "reading/runtimes", params)
        shown = found[:limit]
        held, exact = await _held(conn, [row["id"] for row in shown])
    for row in shown:
        row["stale"] = row["state"] == "alive" and row["heartbeat_age_s"] > stale_after_s
        row["holds"] = held.get(row["id"], 0)
        row["holds_exact"] = exact
    more = len(found) > limit
    return shown, encode_moment(shown[-1]["started_at"], shown[-1]["id"]) if more else None


async def leader(conn: Connection) -> dict[str, Any] | None:
    """Who keeps house, or None."""
    return await look(conn, leader_look())


def leader_look() -> Look[Row | None]:
    """The same, to be asked along with other things."""
    return Look("reading/leader", {}, first)


async def _held(conn: Connection, ids: list[UUID]) -> tuple[dict[UUID, int], bool]:
    params = {"runtimes": ids, "looked_max": HELD_LOOKED_MAX}
    held: dict[UUID, int] = {}
    looked = 0
    for row in await run.rows(conn, "reading/held", params):
        held[row["runtime_id"]] = held.get(row["runtime_id"], 0) + row["jobs"]
        looked = row["looked"]
    return held, looked < HELD_LOOKED_MAX
