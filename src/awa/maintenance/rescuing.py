"""Rescue: attempts whose runtime is gone or whose deadline has passed become jobs again."""

from datetime import datetime

from awa.config import Settings
from awa.db.run import Connection
from awa.events import upkeep as events
from awa.maintenance.duty import RunOnce
from awa.storage.rescue import MAX_ATTEMPTS, rescue

BOUND_ATTEMPTS = MAX_ATTEMPTS


def rescuer(settings: Settings) -> RunOnce:
    """The duty under these settings: a runtime is dead when it was silent for `runtime_stale_s`."""

    async def run_once(conn: Connection, now: datetime | None = None) -> int:
        done = await rescue(
            conn, stale_after_s=settings.runtime_stale_s, max_attempts=BOUND_ATTEMPTS, now=now
        )
        events.rescued(*done)
        # Each kind of rescue has the bound for itself; whichever is full has more to do.
        return max(done.attempts_rescued, done.deadlines_passed)

    return run_once
