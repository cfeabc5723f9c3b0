"""The ring: opening the next slot, and giving the space of old ones back."""

from datetime import datetime

from awa.db import run
from awa.db.run import Connection, Row

CARRY_LIMIT = 1_000


async def rotate(
    conn: Connection, *, max_age_s: float, max_bytes: int, now: datetime | None = None
) -> str:
    """Opens the next slot when it is time: rotated | young | empty | blocked."""
    return str(
        await run.value(
            conn, "storage/rotate", {"max_age_s": max_age_s, "max_bytes": max_bytes, "now": now}
        )
    )


async def prune_slot(
    conn: Connection,
    slot: int,
    *,
    keep_s: float,
    carry_limit: int = CARRY_LIMIT,
    now: datetime | None = None,
) -> str:
    """Goes a step towards emptying a slot: more | pruned | pinned | empty | current | young | live | busy.

    `more`: a step is done, and the next needs a transaction of its own. `pinned`: a session's snapshot is older than
    what was carried out of the slot, and would miss it.
    """
    params = {"slot": slot, "keep_s": keep_s, "carry_limit": carry_limit, "now": now}
    return str(await run.value(conn, "storage/prune_slot", params))


async def state(conn: Connection) -> Row:
    """current_slot, slots, opened_at, trusted_from."""
    found = await run.row(conn, "storage/ring")
    assert found is not None
    return found
