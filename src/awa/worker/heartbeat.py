"""The heartbeat: says that this runtime lives, writes down what runs long, hears what it lost.

Attempts older than a few seconds get a row in awa.attempts, so that `open_since` can move on while they
run. The answer names those that are no longer ours. "Not alive" means that this process was too slow and
its attempts belong to others now.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID

from awa.db import run
from awa.db.failures import is_unstorable
from awa.db.pool import connection
from awa.db.run import Connection
from awa.events import runtime as events
from awa.model.errors import AwaError
from awa.storage.finish import Ending, finish
from awa.storage.runtimes import Beat, heartbeat
from awa.worker.attempt import Attempt, Why
from awa.worker.cancellation import drop
from awa.worker.ledger import Ledger
from awa.worker.retry import Retry

if TYPE_CHECKING:
    from awa.worker.runtime import Worker

log = logging.getLogger("awa.worker")

RECORD_AFTER_S: Final = 5.0
# How long after a lost answer the claim behind it may still be committed by its server process.
UNANSWERED_WATCH_S: Final = 30.0


class Heartbeat:
    """The beats of one worker."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._soon = asyncio.Event()
        self._retry = Retry("heartbeat")
        self._record_after_s = min(RECORD_AFTER_S, worker.settings.heartbeat_interval_s)

    def soon(self) -> None:
        """Something looks wrong: ask now and not at the next beat."""
        self._soon.set()

    async def run(self) -> None:
        """Beat until cancelled."""
        while True:
            try:
                async with asyncio.timeout(self._worker.settings.heartbeat_interval_s):
                    await self._soon.wait()
            except TimeoutError:
                pass
            self._soon.clear()
            try:
                await self.beat()
            except AwaError as problem:
                events.beat("failed")
                await self._retry.after(problem)
                self._soon.set()
            else:
                self._retry.succeeded()

    async def beat(self) -> None:
        """One beat. Raises AwaError if the database can't be asked."""
        self._worker.tell_held()
        ledger = self._worker.ledger
        latest_s = monotonic() - self._record_after_s
        older = [
            a
            for a in ledger
            if a.recorded or a.unsaved or a.unsaved_changes or a.claimed_s <= latest_s
        ]
        open_since = ledger.beat_begins(older)
        said = _Said.by(older)
        async with connection(self._worker.pool) as conn:
            try:
                answer = await _tell(conn, ledger.runtime_id, open_since, said)
            except AwaError as problem:
                if said.nothing() == said or not is_unstorable(problem):
                    raise
                # One attempt's words must not cost all of them their heartbeat: they go with their ends, one by one.
                log.warning("what attempts reported can't be stored, and is left out: %s", problem)
                said = said.nothing()
                answer = await _tell(conn, ledger.runtime_id, open_since, said)
        if ledger.dead:
            return
        await self._answered(ledger, older, said, answer)
        if answer.alive and (since := ledger.unanswered_since) is not None:
            await self._settle_unanswered(ledger)
            if (answer.db_now - since).total_seconds() > UNANSWERED_WATCH_S:
                ledger.unanswered_settled(since)

    async def flush(self, attempt: Attempt) -> None:
        """Write one attempt's progress and metadata now. Raises AwaError if the database can't be asked."""
        said = _Said.by([attempt])
        async with connection(self._worker.pool) as conn:
            answer = await _tell(conn, attempt.ledger.runtime_id, None, said)
        await self._answered(attempt.ledger, [attempt], said, answer)

    async def _answered(
        self,
        ledger: Ledger,
        sent: list[Attempt],
        said: _Said,
        answer: Beat,
    ) -> None:
        if not answer.alive:
            events.beat("dead")
            await self._worker.declared_dead(ledger)
            return
        events.beat("ok")
        ledger.db_now = answer.db_now
        for attempt, progress, changes in zip(sent, said.progress, said.metadata, strict=True):
            attempt.recorded = True
            # What the handler said meanwhile is another value, and goes with the next beat.
            if progress is attempt.progress:
                attempt.unsaved = False
            if changes is attempt.changes:
                attempt.unsaved_changes = False
        lost = (ledger.open.get(seq) for seq in answer.lost)
        # Of one that has ended here the end is on its way, and may have overtaken this beat.
        gone = [held for held in lost if held is not None and not held.ended]
        drop(gone, Why.CANCELLED, self._worker.settings.cancel_grace_s)

    async def _settle_unanswered(self, ledger: Ledger) -> None:
        """Hand back what claims took whose answers were lost. No claim may be on its way meanwhile."""
        async with self._worker.gate.emptied() as quiet:
            since = ledger.unanswered_since
            if not quiet or since is None:
                return
            async with connection(self._worker.pool) as conn:
                held = await run.tuples(
                    conn, "worker/open_attempts", {"runtime": ledger.runtime_id, "since": since}
                )
                unknown = [
                    Ending(lane_id, claim_no, lane_seq, "returned", None, None, None)
                    for lane_id, claim_no, lane_seq in held
                    if lane_seq not in ledger.open
                ]
                if unknown:
                    await finish(conn, ledger.runtime_id, unknown)


class _Said(NamedTuple):
    """What a beat says of attempts: where they are, and what is new of each."""

    places: list[tuple[int, int, int]]
    progress: list[dict[str, Any] | None]
    metadata: list[dict[str, Any] | None]

    def nothing(self) -> _Said:
        """Where they are, and nothing of them."""
        return self._replace(progress=[None] * len(self.places), metadata=[None] * len(self.places))

    @classmethod
    def by(cls, attempts: list[Attempt]) -> _Said:
        return cls(
            [(a.row.lane_id, a.row.claim_no, a.row.lane_seq) for a in attempts],
            [a.progress if a.unsaved else None for a in attempts],
            [a.changes if a.unsaved_changes else None for a in attempts],
        )


async def _tell(
    conn: Connection, runtime_id: UUID, open_since: datetime | None, said: _Said
) -> Beat:
    return await heartbeat(
        conn, runtime_id, open_since, said.places, progress=said.progress, metadata=said.metadata
    )
