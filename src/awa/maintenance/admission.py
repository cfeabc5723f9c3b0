"""Admission: parked jobs whose concurrency key has room go into their lanes.

Nearly all of them are let in by whoever makes room. What is left are those that asked in a moment when somebody had the
place in hand: so each round looks through a part of the keys that have parked jobs, and goes on with the next one.
"""

from datetime import datetime
from typing import Final

from awa.db import run
from awa.db.run import Connection
from awa.maintenance.duty import RunOnce
from awa.storage.limited import admit_waiting

BOUND_KEYS: Final = 1_000


def admitter() -> RunOnce:
    """The duty; it remembers how far it came."""
    after: str | None = None

    async def run_once(conn: Connection, now: datetime | None = None) -> int:
        """Look through up to `BOUND_KEYS` keys; answers so many if it is worth going on at once."""
        nonlocal after
        # Most looks find nothing, so they are kept cheap.
        if not await run.value(conn, "maintenance/anything_parked"):
            after = None
            return 0
        found = await admit_waiting(conn, after=after, max_keys=BOUND_KEYS)
        after = found.last_key
        return BOUND_KEYS if found.jobs and found.more else 0

    return run_once
