"""Who keeps house: one row of `awa.leases`, judged by the database's clock.

Every process with the role `maintenance` stands for election. Whoever takes the lease leads for a term: it
renews the lease every few seconds and runs the duties. When it dies, the lease runs out and another takes
it under the next fence number. No lock outlives a transaction, so all this works behind a pooler.
"""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self
from uuid import UUID

from awa.config import Settings
from awa.db import run
from awa.db.pool import Pool, connection
from awa.events import runtime as events
from awa.maintenance.term import Term
from awa.maintenance.waiting import wait
from awa.model.errors import AwaError
from awa.operations.fence import LEASE_NAME
from awa.storage import leases


@dataclass(frozen=True, slots=True)
class Timing:
    """The beat of an election. A term survives a database that is away for less than the lease."""

    lease_ttl_s: float
    renew_interval_s: float
    renew_again_s: float
    stand_interval_s: float

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Renew thrice in a lease's time; look for a free lease a little more often."""
        ttl_s = settings.lease_ttl_s
        return cls(ttl_s, ttl_s / 3, ttl_s / 15, min(2.0, ttl_s / 4))


class Leader:
    """One candidate: takes the lease when it is free, keeps it, gives it back.

    `identity` says under which id this process is registered now. One that was declared dead gets another id, and a
    term under the old one ends: rescue, doctor and console take its holder for dead, and so does the gate.
    """

    def __init__(self, pool: Pool, identity: Callable[[], UUID], timing: Timing) -> None:
        self._pool = pool
        self._identity = identity
        self._timing = timing

    async def wait_for_term(self, stop: asyncio.Event) -> Term | None:
        """Stand for election until elected (the term) or stopped (None)."""
        while not stop.is_set():
            wait_s = self._timing.stand_interval_s
            try:
                term = await self.stand()
            except Exception as problem:  # whatever it is, the next election may be better
                events.trouble("maintenance election", problem, wait_s)
            else:
                if term is not None:
                    return term
            # Not all candidates at the same moment.
            await wait(stop, wait_s * random.uniform(0.8, 1.2))
        return None

    async def stand(self) -> Term | None:
        """Try once to take the lease; None while it is another's, while a duty of an old term runs, or after having been declared dead."""
        asked_at, holder = time.monotonic(), self._identity()
        async with connection(self._pool) as conn:
            seen = await run.row(conn, "maintenance/lease_left", {"name": LEASE_NAME})
            if seen and seen["left_s"] > 0 and seen["holder"] != holder:
                return None
            async with conn.transaction():
                candidate = {"name": LEASE_NAME, "holder": holder}
                if not await run.value(conn, "maintenance/close_gate", candidate):
                    return None
                ttl_s = self._timing.lease_ttl_s
                lease = await leases.take(conn, LEASE_NAME, holder, ttl_s=ttl_s)
        return Term(holder, lease.fence, asked_at + ttl_s) if lease.held else None

    async def keep(self, term: Term) -> None:
        """Renew the lease until the term ends; end the term when the lease is lost or has run out."""
        while not term.is_over:
            wait_s = self._timing.renew_interval_s
            try:
                async with asyncio.timeout(max(0.0, term.valid_until_s - time.monotonic())):
                    await self.renew(term)
            except Exception as problem:  # the lease's own time decides, not one failed call
                wait_s = self._timing.renew_again_s
                events.trouble("maintenance lease", problem, wait_s)
            left_s = term.valid_until_s - time.monotonic()
            await wait(term.ended, max(0.0, min(wait_s, left_s)))
        term.end()

    async def renew(self, term: Term) -> None:
        """Renew once; ends the term if another has taken the lease, or if its holder was declared dead."""
        if self._identity() != term.holder:
            term.end()
            return
        asked_at = time.monotonic()
        ttl_s = self._timing.lease_ttl_s
        mine = {"name": LEASE_NAME, "holder": term.holder, "fence": term.fence, "ttl_s": ttl_s}
        async with connection(self._pool) as conn:
            renewed = await run.value(conn, "maintenance/renew_lease", mine)
        if renewed is None:
            term.end()
        else:
            term.valid_until_s = asked_at + ttl_s

    async def give_back(self, term: Term) -> None:
        """Release the lease so that the next leader need not wait for it to run out."""
        try:
            async with connection(self._pool) as conn:
                await leases.release(conn, LEASE_NAME, term.holder)
        except AwaError as problem:
            events.trouble("maintenance lease release", problem, 0)
