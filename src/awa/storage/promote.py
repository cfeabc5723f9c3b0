"""Promotion: jobs whose time has come go into their lanes."""

from datetime import datetime

from awa.db import run
from awa.db.run import Connection

MAX_JOBS = 2_000


async def promote(
    conn: Connection, *, max_jobs: int = MAX_JOBS, now: datetime | None = None
) -> int:
    """Promotes up to `max_jobs` due jobs; answers how many."""
    return int(await run.value(conn, "storage/promote", {"max_jobs": max_jobs, "now": now}))
