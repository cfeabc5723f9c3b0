"""Ageing: a lane whose oldest job has waited long is served as if it were of a better priority."""

from datetime import datetime

from awa.config import Settings
from awa.db.run import Connection
from awa.maintenance.duty import RunOnce
from awa.storage.ageing import age_lanes


def ager(settings: Settings) -> RunOnce:
    """The duty under these settings: one step better for each `ageing_step_s` waited."""

    async def run_once(conn: Connection, now: datetime | None = None) -> int:
        return await age_lanes(conn, step_s=settings.ageing_step_s, now=now)

    return run_once
