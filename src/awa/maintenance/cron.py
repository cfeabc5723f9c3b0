"""Schedules: what is due is fired, and what no program declares any more is retired."""

from datetime import datetime

from awa.db.run import Connection
from awa.operations import cron

BOUND_SCHEDULES = cron.DUE_MAX_SCHEDULES


async def fire(conn: Connection, now: datetime | None = None) -> int:
    """Fire up to `BOUND_SCHEDULES` schedules; answers how many."""
    return await cron.fire_due(conn, now)


async def retire(conn: Connection, now: datetime | None = None) -> int:
    """Retire and bring back; answers how many schedules changed."""
    return await cron.retire(conn, now)
