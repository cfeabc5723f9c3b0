"""Gauges: what only a look at the database can tell, told to the metrics by the one who leads."""

from datetime import datetime

from awa.db.run import Connection
from awa.events import batch as events
from awa.events import upkeep
from awa.operations import read, switch
from awa.storage import follow_ups


async def run_once(conn: Connection, now: datetime | None = None) -> int:
    """Tell how many batch operations are in each state that is not final, whether all are held, and how many follow-ups are owed."""
    counts = await read.active_counts(conn)
    for state, operations in counts.items():
        events.active(state, operations)
    events.held((await switch.present(conn))["held"])
    upkeep.owing_follow_ups(await follow_ups.count_owed(conn))
    return sum(counts.values())
