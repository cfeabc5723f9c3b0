"""Plan tokens: made by a preview, and held against what is there when the operation is submitted.

They are signed with a secret that the database keeps, so every door to one database makes the same tokens: a
preview of the command line is good for the HTTP API, and a restart changes nothing. Times are the database's.
"""

from dataclasses import dataclass
from datetime import datetime

from awa.db import run
from awa.db.run import Connection
from awa.model.errors import DatabaseError
from awa.model.plan import Count, Matter, Plan, PlanLimits, seal, unseal


@dataclass(frozen=True, slots=True)
class Seal:
    """What tokens are signed with, and the time."""

    secret: bytes
    now: datetime


async def make(
    conn: Connection, matter: Matter, count: Count, limits: PlanLimits
) -> tuple[str | None, datetime | None]:
    """The token of what was counted just now, and until when it is good.

    None for a database role that may not read the secret: it may look, and what it may not submit needs no plan.
    """
    known = await _seal(conn)
    if known is None:
        return None, None
    plan = Plan.make(matter, count, known.now, limits.minutes)
    return seal(plan, known.secret), plan.expires_at


async def unsealed(conn: Connection, token: object, matter: Matter) -> tuple[Plan, datetime]:
    """The plan that the token stands for, if it was made here and for just this, and the time.

    Raises ValidationError with what differs. Whether its time is over is for `Plan.check_fresh` to say.
    """
    known = await _seal(conn)
    if known is None:
        raise DatabaseError(
            "the database role may not read awa.plan_secret, and without it no plan token can be checked; "
            "nothing was submitted",
            hint="GRANT SELECT ON awa.plan_secret to it, or submit without a plan token",
        )
    plan = unseal(token, known.secret)
    plan.check_fits(matter)
    return plan, known.now


async def _seal(conn: Connection) -> Seal | None:
    """Asked for first, since a refused look would end the caller's transaction."""
    if not await run.value(conn, "operations/plan_readable"):
        return None
    found = await run.row(conn, "operations/plan_secret")
    return None if found is None else Seal(bytes(found["secret"]), found["now"])
