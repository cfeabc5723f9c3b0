"""Leases: who leads, by the database's clock and without any session state."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from awa.db import run
from awa.db.run import Connection


class Lease(NamedTuple):
    """A lease in someone's hands; `fence` grows with each new holder, `held` says that it is the asker's."""

    name: str
    holder: UUID
    fence: int
    expires_at: datetime
    held: bool


async def take(
    conn: Connection, name: str, holder: UUID, *, ttl_s: float, now: datetime | None = None
) -> Lease:
    """Takes or renews the lease, or says who holds it."""
    params = {"name": name, "holder": holder, "ttl_s": ttl_s, "now": now}
    while True:
        found = await run.row(conn, "storage/take_lease", params)
        if found is not None:
            return Lease(**found)


async def release(conn: Connection, name: str, holder: UUID) -> bool:
    """Gives the lease back; False if it was not the holder's."""
    return bool(await run.value(conn, "storage/release_lease", {"name": name, "holder": holder}))
