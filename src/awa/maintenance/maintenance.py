"""The maintenance role from start to stop: stand for election, lead a term, stand again.

A term is a set of tasks side by side: one keeps the lease, one for each duty, and the runner of batch
operations beside them, never in front. They share nothing but the pool, which is maintenance's own, so that
neither a busy worker nor a user's long transaction can take the connection that renews the lease. It works
with no worker alive: to repair a queue needs no queue.
"""

import asyncio
from collections.abc import Callable, Sequence
from uuid import UUID

from awa.config import Settings
from awa.db.pool import Pool
from awa.events import runtime as events
from awa.maintenance.connections import own_pool
from awa.maintenance.duties import duties
from awa.maintenance.duty import Duty
from awa.maintenance.keeping import keep_duty
from awa.maintenance.leader import Leader, Timing
from awa.maintenance.operations import keep_operations
from awa.maintenance.term import Term

# A term's end waits so long for what is under way; then it is cancelled, which rolls it back.
TERM_END_GRACE_S = 5.0
# Not all duties at the same moment: that would open a connection for each.
FIRST_RUNS_APART_S = 0.05


class Maintenance:
    """What a node starts for the role `maintenance`; `identity` says under which id it is registered now."""

    def __init__(
        self,
        pool: Pool,
        identity: Callable[[], UUID],
        settings: Settings,
        *,
        table: Sequence[Duty] | None = None,
    ) -> None:
        self._pool = pool
        self._identity = identity
        self._settings = settings
        self._timing = Timing.of(settings)
        self._duties = tuple(duties(settings) if table is None else table)

    async def run(self, stop: asyncio.Event) -> None:
        """Keep house whenever elected, until `stop` is set; then finish what is under way."""
        async with own_pool(self._pool, len(self._duties)) as pool:
            leader = Leader(pool, self._identity, self._timing)
            while term := await leader.wait_for_term(stop):
                await self._lead(leader, term, pool, stop)

    async def _lead(self, leader: Leader, term: Term, pool: Pool, stop: asyncio.Event) -> None:
        """Lead one term, until it ends or `stop` is set."""
        events.leading(True)
        stopping = asyncio.create_task(_end_with(stop, term), name="awa-maintenance-stop")
        tasks = [
            asyncio.create_task(leader.keep(term), name="awa-maintenance-lease"),
            *(
                asyncio.create_task(
                    keep_duty(duty, term, pool, place * FIRST_RUNS_APART_S),
                    name=f"awa-duty-{duty.name}",
                )
                for place, duty in enumerate(self._duties)
            ),
            asyncio.create_task(
                keep_operations(term, pool, self._settings), name="awa-batch-operations"
            ),
        ]
        try:
            await term.ended.wait()
            await asyncio.wait(tasks, timeout=TERM_END_GRACE_S)
        finally:
            await _cancel([*tasks, stopping])
            term.end()
            events.leading(False)
            await leader.give_back(term)


async def _end_with(stop: asyncio.Event, term: Term) -> None:
    await stop.wait()
    term.end()


async def _cancel(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
