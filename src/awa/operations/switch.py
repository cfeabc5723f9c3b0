"""One switch that holds all operations: for the moment in which nobody knows yet which one does harm.

Steps of operations share a lock as long as their transaction lasts, and whoever turns the switch takes it alone. So it
waits for the chunks that are under way, and when it is turned nothing is being changed. While operations are held none
is begun and none goes on; they can still be submitted, paused, changed and cancelled, and cancelled ones end. Nothing
else is held: jobs are run, promoted and rescued as ever.
"""

from typing import Any

from awa.db import run
from awa.db.run import Connection
from awa.model.errors import Conflict
from awa.model.limits import check_actor, check_reason

Row = dict[str, Any]
RELEASED: Row = {"held": False, "held_at": None, "held_by": None, "reason": None}


async def present(conn: Connection) -> Row:
    """Whether all operations are `held`, and then `held_at`, `held_by` and `reason`; else these are None."""
    row = await run.row(conn, "operations/present_hold")
    return RELEASED if row is None else {"held": True, **row}


async def hold(conn: Connection, *, actor: str | None = None, reason: str | None = None) -> Row:
    """Hold all operations; returns as `present`. `actor` None is the database's session_user.

    Raises `Conflict` if they are held already, saying by whom.
    """
    params = _who(actor, reason)
    async with conn.transaction():
        await run.row(conn, "operations/switch_alone")
        row = await run.row(conn, "operations/hold_all", params)
        if row is None:
            raise await _held_already(conn)
    return {"held": True, **row}


async def release(conn: Connection, *, actor: str | None = None, reason: str | None = None) -> Row:
    """Let operations go on; returns as `present`. Raises `Conflict` if nobody holds them."""
    params = _who(actor, reason)
    async with conn.transaction():
        await run.row(conn, "operations/switch_alone")
        if await run.row(conn, "operations/release_all", params) is None:
            raise Conflict(
                "batch operations are not held", hint="nothing but a pause of its own holds one up"
            )
    return RELEASED


async def _held_already(conn: Connection) -> Conflict:
    seen = await present(conn)
    why = f": {seen['reason']}" if seen["reason"] else ""
    return Conflict(
        f"batch operations are held already, by {seen['held_by']} since {seen['held_at']}{why}",
        hint="release them with: awa batch-ops release",
        details={name: None if value is None else str(value) for name, value in seen.items()},
    )


def _who(actor: str | None, reason: str | None) -> Row:
    checked = None if actor is None else check_actor(actor)
    return {"actor": checked, "reason": check_reason(reason)}
