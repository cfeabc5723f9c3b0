"""Who may carry operations out: only the holder of the maintenance lease, checked in every transaction.

The runner is given a guard and enters it first in each transaction. Together with the lock on the
operation's row this makes two things sure: two chunks of one operation never overlap, and a leader
that lost its lease while it slept stops at its next chunk instead of working beside its successor.
"""

from dataclasses import dataclass
from typing import Final, Protocol
from uuid import UUID

from awa.db import run
from awa.db.run import Connection

LEASE_NAME: Final = "maintenance"
STATEMENT_MAX_MS: Final = 10_000
LOCK_WAIT_MAX_MS: Final = 2_000
IDLE_IN_TRANSACTION_MAX_MS: Final = 5_000


class LeaseLost(Exception):
    """The lease names another holder; the transaction must not go on."""


class Guard(Protocol):
    """The right to carry operations out, for as long as `enter` does not raise."""

    @property
    def holder(self) -> UUID:
        """The runtime that holds the lease."""
        ...

    async def enter(self, conn: Connection) -> None:
        """Bound the transaction that was just begun and check the lease in it; raises if it is lost."""
        ...


@dataclass(frozen=True, slots=True)
class LeaseGuard:
    """A guard that knows nothing but the lease: holder and fence number as they were when it was taken."""

    holder: UUID
    fence: int

    async def enter(self, conn: Connection) -> None:
        """Enter the lease's gate, then ask in a new statement whether the lease is still ours."""
        bounds = {
            "name": LEASE_NAME,
            "statement_ms": STATEMENT_MAX_MS,
            "lock_ms": LOCK_WAIT_MAX_MS,
            "idle_ms": IDLE_IN_TRANSACTION_MAX_MS,
        }
        await run.row(conn, "maintenance/enter_gate", bounds)
        mine = {"name": LEASE_NAME, "holder": self.holder, "fence": self.fence}
        if not await run.value(conn, "maintenance/still_leads", mine):
            raise LeaseLost
