"""Restore: a store that was brought into another cluster carries transaction ids that mean nothing there.

`awa migrate` puts that right; this duty does so for those who restored a dump and started the program.
"""

from datetime import datetime

from awa.db import run
from awa.db.run import Connection
from awa.events import upkeep as events


async def run_once(conn: Connection, now: datetime | None = None) -> int:
    """Rebuild what the lanes owe if the store was restored; answers 1 if it was."""
    recovered = bool(await run.value(conn, "db/recover_after_restore"))
    if recovered:
        events.restored()
    return int(recovered)
