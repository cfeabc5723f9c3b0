"""The loop of one queue: wait for room, claim a set, hand it to the runners, sleep when there is no more."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Final

from awa.db.failures import RuntimeGone, is_lost_connection
from awa.db.pool import connection
from awa.events import jobs as events
from awa.model.errors import AwaError
from awa.storage.claim import Claimed, claim
from awa.worker.attempt import RETURNED, Attempt, Verdict
from awa.worker.deadlines import Deadlines
from awa.worker.holding import Holding
from awa.worker.ledger import Ledger
from awa.worker.options import QueueOptions
from awa.worker.rate import Rate
from awa.worker.retry import Retry
from awa.worker.runners import Runners
from awa.worker.sharing import Shared
from awa.worker.slots import Slots
from awa.worker.wake import Wake

if TYPE_CHECKING:
    from awa.worker.runtime import Worker

# What was claimed ahead and not begun after so long is handed back, for others to run.
AHEAD_PATIENCE_S: Final = 2.0


class QueueLoop:
    """One queue of a worker."""

    def __init__(self, worker: Worker, options: QueueOptions, shared: Shared | None = None) -> None:
        self.queue = options.queue
        self.options = options
        poll_s = worker.settings.poll_min_ms / 1e3, worker.settings.poll_max_ms / 1e3
        self.wake = Wake(options.queue, *poll_s)
        self._stopping = asyncio.Event()
        self.holding = Holding(*poll_s, self._stopping)
        self._rate = None if options.rate_limit is None else Rate(options.rate_limit)
        self.slots = Slots(
            options.max_workers, shared, weight=options.weight, least=options.min_workers
        )
        self.runners = Runners(
            options.max_workers, worker.tasks, worker.threads, self._ended, worker.hooks
        )
        self._worker = worker
        self._deadlines = Deadlines(worker.stop_at_deadline) if options.deadline_seconds else None
        self._problem: AwaError = AwaError("none yet")
        self._retry = Retry(f"claim from {options.queue}")
        self._may_go_ahead = self._rate is None and shared is None
        self.slots.goes_ahead = self._may_go_ahead

    async def run(self) -> None:
        """Claim until `stop`. A claim that is on its way is waited for: its jobs are known then."""
        backlog = False
        while not self._stopping.is_set():
            await self.slots.wait_for_room(backlog=backlog)
            await self._worker.finisher.keeps_up()
            if (limit := self.slots.room) <= 0:
                self._return_what_waits()
                continue
            if self._stopping.is_set():
                break
            if self._rate is not None and (limit := min(limit, self._rate.room())) <= 0:
                self.slots.wants = False
                await self.holding.rest(self._rate.wait_s())
                continue
            claimed = await self._claim(limit)
            if claimed is None:
                await self._retry.after(self._problem, self._stopping)
                continue
            backlog = len(claimed.jobs) >= limit
            self.slots.wants = backlog
            await self._pause(claimed, backlog=backlog)

    async def _pause(self, claimed: Claimed, *, backlog: bool) -> None:
        """What comes between two claims."""
        if claimed.jobs:
            self.wake.found()
        if claimed.held is not None:
            events.claim_held(self.queue, claimed.held.why)
            await self.holding.wait(claimed.held, served=bool(claimed.jobs))
        elif backlog:
            await self.wake.stay_busy()
        elif not claimed.more:
            await self.wake.sleep()

    def stop(self) -> None:
        """Claim no more."""
        self._stopping.set()
        self.holding.eased()
        self.slots.interrupt()
        self.wake.notify()

    def hand_back(self, older_than_s: float = 0.0) -> int:
        """Return what is claimed and not begun for so long; answers how many."""
        latest_s = monotonic() - older_than_s
        waiting, returned = self.runners.buffered, 0
        while waiting and waiting[0].claimed_s <= latest_s:
            self._ended(waiting.popleft(), RETURNED, 0.0)
            returned += 1
        return returned

    async def _claim(self, limit: int) -> Claimed | None:
        """One claim call; None after a failure, which is kept in `_problem`."""
        self.slots.ask(limit)
        try:
            async with self._worker.gate:
                return await self._call(limit)
        finally:
            self.slots.ask(0)

    async def _call(self, limit: int) -> Claimed | None:
        ledger = self._worker.ledger
        number = ledger.claim_begins()
        self.wake.looking()
        self.holding.looking()
        began_s = monotonic()
        sent = False
        try:
            async with connection(self._worker.pool) as conn:
                sent = True
                claimed = await claim(
                    conn, self.queue, limit, ledger.runtime_id, self.options.deadline_seconds
                )
        except AwaError as problem:
            self._failed(problem, ledger, number, sent=sent)
            return None
        except BaseException:
            ledger.claim_unanswered(number)
            raise
        self._retry.succeeded()
        now_s = monotonic()
        self.slots.claim_took(now_s - began_s)
        self.slots.goes_ahead = self._may_go_ahead and claimed.held is None
        if not claimed.jobs:
            ledger.claim_ends(number, ())
            return claimed
        self._take([Attempt(job, ledger, now_s) for job in claimed.jobs], ledger, number)
        events.claimed(self.queue, len(claimed.jobs), now_s - began_s)
        return claimed

    def _take(self, attempts: list[Attempt], ledger: Ledger, number: int) -> None:
        """Note the attempts and get them going, unless the runtime was declared dead meanwhile."""
        ledger.claim_ends(number, attempts)
        if ledger.dead:
            return
        self.slots.take(len(attempts))
        if self._rate is not None:
            self._rate.took(len(attempts))
        if self._deadlines is not None:
            self._deadlines.add(attempts, self.options.deadline_seconds or 0.0)
        self.runners.add(attempts)

    def _failed(self, problem: AwaError, ledger: Ledger, number: int, *, sent: bool) -> None:
        if sent and is_lost_connection(problem):
            ledger.claim_unanswered(number)
        else:
            ledger.claim_ends(number, ())
        if isinstance(problem, RuntimeGone):
            self._worker.heartbeat.soon()
        self._problem = problem

    def _return_what_waits(self) -> None:
        if self.runners.buffered and self.hand_back(AHEAD_PATIENCE_S):
            self.slots.ahead = 0

    def _ended(self, attempt: Attempt, verdict: Verdict, busy_s: float) -> None:
        """An attempt is over in this process."""
        self.slots.free()
        self._worker.finisher.end(attempt, verdict, busy_s)
