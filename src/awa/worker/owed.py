"""Owed follow-ups: what is to follow jobs that the leader failed, after their last worker died or let a deadline pass.

The leader knows no tasks, so it only notes that something is owed (awa.rescue). A worker whose task for the kind has an `on_failed`
looks for such notes now and then, asks the task, and inserts what it wants in the transaction that takes the note away: once, or not at all.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from awa.db.failures import is_unstorable
from awa.db.pool import connection
from awa.db.run import Connection, Row
from awa.events import jobs as events
from awa.model.errors import AwaError
from awa.model.job import job_from_row
from awa.model.task import Tasks
from awa.storage import follow_ups
from awa.worker.follow_ups import Follower, asked_of, insert_follow_ups
from awa.worker.retry import Retry

if TYPE_CHECKING:
    from awa.worker.runtime import Worker

LOOK_INTERVAL_S: Final = 5.0
TAKE_MAX: Final = 50

log = logging.getLogger("awa.worker")


def kinds_with_on_failed(tasks: Tasks) -> list[str]:
    """The kinds whose tasks want to be asked when a job has failed."""
    return sorted(task.kind for task in tasks if task.on_failed is not None)


class Owed:
    """Settles what is owed, for one worker."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._retry = Retry("settling owed follow-ups")

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            try:
                await self._look()
            except AwaError as problem:
                await self._retry.after(problem)
            else:
                self._retry.succeeded()
                await asyncio.sleep(LOOK_INTERVAL_S)

    async def _look(self) -> None:
        """Say which kinds this worker knows by now, and settle all that is owed for them."""
        ledger, kinds = self._worker.ledger, kinds_with_on_failed(self._worker.tasks)
        if kinds != ledger.on_failed:  # a task may be registered while the worker runs
            async with connection(self._worker.pool) as conn:
                await follow_ups.say_on_failed(conn, ledger.runtime_id, kinds)
            ledger.on_failed = kinds
        while kinds and await self.settle(kinds) == TAKE_MAX:
            pass

    async def settle(self, kinds: list[str]) -> int:
        """Settle up to `TAKE_MAX` in one transaction; answers how many."""
        async with connection(self._worker.pool) as conn, conn.transaction():
            rows = await follow_ups.take_owed(conn, kinds, max_rows=TAKE_MAX)
            for row in rows:
                await self._insert(conn, row, self._asked(row))
        events.settled(len(rows))
        return len(rows)

    def _asked(self, row: Row) -> list[Follower]:
        """What the task wants. If it raises, nothing follows, as when a worker fails the job itself."""
        tasks: Tasks = self._worker.tasks
        task = tasks.need(row["kind"])
        try:
            assert task.on_failed is not None
            return asked_of(task.on_failed, _failed_job(row, task.decode(row["args"])), tasks)
        except Exception:
            log.exception(
                "on_failed of %s failed for job %d; nothing follows it", row["kind"], row["id"]
            )
            return []

    async def _insert(self, conn: Connection, row: Row, wanted: list[Follower]) -> None:
        """Insert what follows one job. What can't be stored must not keep the others from theirs."""
        if not wanted:
            return
        try:
            async with conn.transaction():
                await insert_follow_ups(conn, wanted)
        except AwaError as problem:
            if not is_unstorable(problem):
                raise
            log.error("what was to follow job %d could not be stored: %s", row["id"], problem)


def _failed_job(row: Row, args: object) -> Any:
    return job_from_row({**row, "args": args})
