"""The ring: it moves on by age or size, and slots in which everything is over give their space back.

A completed job lives in its slot, so the retention decides both: a slot is open for its share of it, and
closed slots are kept for as long as it lasts.
"""

from datetime import datetime

from awa.config import Settings
from awa.db.run import Connection
from awa.events import upkeep as events
from awa.maintenance.duty import RunOnce
from awa.storage import ring

HOUR_S = 3600
# As the migration makes it; what counts when it matters is the ring's own row.
SLOTS = 8
# The current slot and the one being emptied hold no retention.
SLOTS_WITHOUT_RETENTION = 2
SLOT_MAX_BYTES = 1024**3


def rotator(settings: Settings) -> RunOnce:
    """The duty that opens the next slot; answers 1 if it did."""

    async def run_once(conn: Connection, now: datetime | None = None) -> int:
        state = await ring.state(conn)
        age_s = slot_age_s(settings, state["slots"])
        result = await ring.rotate(conn, max_age_s=age_s, max_bytes=SLOT_MAX_BYTES, now=now)
        events.ring(result)
        return int(result == "rotated")

    return run_once


def pruner(settings: Settings) -> RunOnce:
    """The duty that gives one slot's space back, a step at a time; answers 1 if there may be more to do at once.

    It stops at a slot that is busy, too: the locks taken on the way are given back at the transaction's end.
    """

    async def run_once(conn: Connection, now: datetime | None = None) -> int:
        state = await ring.state(conn)
        keep_s = settings.completed_retention_hours * HOUR_S
        pinned = False
        # The longest closed first; a storage with one slot prunes inside it.
        for step in range(1, max(state["slots"], 2)):
            slot = (state["current_slot"] + step) % state["slots"]
            result = await ring.prune_slot(conn, slot, keep_s=keep_s, now=now)
            pinned = pinned or result == "pinned"
            if result in {"pruned", "more", "busy"}:
                events.pruned(result, pinned=pinned)
                return int(result != "busy")
        events.pruned("none", pinned=pinned)
        return 0

    return run_once


def slot_age_s(settings: Settings, slots: int) -> float:
    """How long a slot stays open."""
    return settings.completed_retention_hours * HOUR_S / max(1, slots - SLOTS_WITHOUT_RETENTION)
