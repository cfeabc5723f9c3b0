"""Promotion: scheduled and retryable jobs whose time has come go into their lanes."""

from datetime import datetime

from awa.db import run
from awa.db.run import Connection
from awa.storage.promote import MAX_JOBS, promote

BOUND_JOBS = MAX_JOBS


async def run_once(conn: Connection, now: datetime | None = None) -> int:
    """Promote up to `BOUND_JOBS` jobs; answers how many. Most looks find nothing, so they are kept cheap."""
    if not await run.value(conn, "maintenance/promotion_due", {"now": now}):
        return 0
    return await promote(conn, max_jobs=BOUND_JOBS, now=now)
