"""Gauges: what only a look at the database can tell, told to the metrics by the one who leads."""

from datetime import datetime

from awa.db.run import Connection
from awa.events import batch as events
from awa.operations import read


async def run_once(conn: Connection, now: datetime | None = None) -> int:
    """Tell how many batch operations are in each state that is not final; answers how many there are."""
    counts = await read.active_counts(conn)
    for state, operations in counts.items():
        events.active(state, operations)
    return sum(counts.values())
