"""Rescue: attempts of runtimes that are gone, and those past their deadline, become jobs again."""

from datetime import datetime
from typing import NamedTuple

from awa.db import run
from awa.db.run import Connection

MAX_ATTEMPTS = 1_000


class Rescued(NamedTuple):
    """Counts of one rescue."""

    runtimes_declared_dead: int
    attempts_rescued: int
    deadlines_passed: int


async def rescue(
    conn: Connection,
    *,
    stale_after_s: float,
    max_attempts: int = MAX_ATTEMPTS,
    now: datetime | None = None,
) -> Rescued:
    """Declares runtimes dead that were silent for `stale_after_s` and takes attempts back, `max_attempts` a kind."""
    found = await run.row(
        conn,
        "storage/rescue",
        {"stale_after_s": stale_after_s, "max_attempts": max_attempts, "now": now},
    )
    assert found is not None
    return Rescued(**found)
