"""Time-outs of callbacks: whoever waited too long gets another attempt, or fails if none is left."""

from datetime import datetime

from awa.db import run
from awa.db.run import Connection
from awa.events import callbacks as events
from awa.storage.callbacks import MAX_CALLBACKS, time_out

BOUND_CALLBACKS = MAX_CALLBACKS


async def run_once(conn: Connection, now: datetime | None = None) -> int:
    """End the wait of up to `BOUND_CALLBACKS` callbacks; answers how many. Most looks find nothing."""
    if not await run.value(conn, "maintenance/time_outs_due", {"now": now}):
        return 0
    ended = await time_out(conn, max_callbacks=BOUND_CALLBACKS, now=now)
    events.timed_out(ended)
    return ended
