"""Retention of failed, cancelled and recorded jobs. Plain completed ones go with their ring slot."""

from datetime import datetime

from awa.db import run
from awa.db.run import Connection

MAX_ROWS = 5_000


async def retain_finished(
    conn: Connection,
    *,
    keep_s: float,
    completed_keep_s: float,
    max_rows: int = MAX_ROWS,
    now: datetime | None = None,
) -> int:
    """Deletes up to `max_rows` jobs that were kept long enough; answers how many."""
    params = {
        "keep_s": keep_s,
        "completed_keep_s": completed_keep_s,
        "max_rows": max_rows,
        "now": now,
    }
    return int(await run.value(conn, "storage/retain_finished", params))
