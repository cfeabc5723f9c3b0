"""Cursors: a lane that nobody claims from is rid of what operations have moved away at its front.

A claim passes that on its way. In a queue that is paused, or that nobody serves, no claim comes, and each look at the lane would
go over all of it again.
"""

from datetime import datetime

from awa.db.run import Connection
from awa.storage.cursors import advance_cursors

# Their locks are held until the transaction ends, and claims pass locked lanes by.
BOUND_LANES = 5


async def run_once(conn: Connection, now: datetime | None = None) -> int:
    """A few lanes, each a part of the way."""
    return await advance_cursors(conn, max_lanes=BOUND_LANES)
