"""Ageing: a lane whose jobs wait long gets a better effective priority."""

from datetime import datetime

from awa.db import run
from awa.db.run import Connection


async def age_lanes(conn: Connection, *, step_s: float | None, now: datetime | None = None) -> int:
    """One priority step per `step_s` seconds that the oldest job waits (None: no ageing); answers lanes changed."""
    return int(await run.value(conn, "storage/age_lanes", {"step_s": step_s, "now": now}))
