"""Gauges: what only a look at the database can tell, told to the metrics by the one who leads."""

from datetime import datetime

from awa.db.run import Connection
from awa.events import batch as events
from awa.operations import read, switch


async def run_once(conn: Connection, now: datetime | None = None) -> int:
    """Tell how many batch operations are in each state that is not final, and whether all are held; answers how many."""
    counts = await read.active_counts(conn)
    for state, operations in counts.items():
        events.active(state, operations)
    events.held((await switch.present(conn))["held"])
    return sum(counts.values())
