"""Cursors: lanes that nobody claims from are read from where something still waits."""

from awa.db import run
from awa.db.run import Connection


async def advance_cursors(conn: Connection, *, max_lanes: int) -> int:
    """Move the cursors of so many lanes over what was moved away or cancelled at their front; answers how many moved."""
    return int(await run.value(conn, "storage/advance_cursors", {"max_lanes": max_lanes}))
