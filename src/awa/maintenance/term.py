"""One uninterrupted time of leading, and the gate that keeps a deposed leader from acting.

The lease alone can't stop a leader that slept (a paused machine, a lost network) from going on where it
left off. The gate does: every transaction of a duty first enters it (a shared transaction lock) and then
asks in a new statement whether the lease is still its own. A take-over happens only with the gate closed
(the same lock, exclusively). So what a deposed leader had begun is over before the next term begins, and
what it begins afterwards is refused. A transaction that hangs inside the gate is ended by its own timeouts.
"""

import asyncio
import time
from dataclasses import dataclass, field
from uuid import UUID

from awa.db.run import Connection
from awa.operations.fence import LeaseGuard, LeaseLost


@dataclass(slots=True)
class Term:
    """A term of office, told apart by its fence number; it is the runner's guard as well."""

    holder: UUID
    fence: int
    valid_until_s: float
    """By this process's monotonic clock, counted from before the lease was asked for: never too late."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_over(self) -> bool:
        """Whether the term has ended or its lease must have run out."""
        return self.ended.is_set() or time.monotonic() >= self.valid_until_s

    def end(self) -> None:
        """End the term: no duty begins any more."""
        self.ended.set()

    async def enter(self, conn: Connection) -> None:
        """Begin a duty's transaction: bound it and enter the gate. Raises LeaseLost if the term is over.

        Call it as the first thing inside the transaction.
        """
        if self.is_over:
            self.end()
            raise LeaseLost
        try:
            await LeaseGuard(self.holder, self.fence).enter(conn)
        except LeaseLost:
            self.end()
            raise
