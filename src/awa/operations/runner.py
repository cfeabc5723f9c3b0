"""The runner: serves the active operations step by step, for as long as it is let.

It belongs to the maintenance leader and runs beside the other duties, on a connection of its own for
each step and no lock between steps. After every step it asks anew whom to serve: the most urgent
first, among equals whoever was served longest ago, so an urgent operation of ten rows does not wait
for one of a million. Nothing of importance is kept in memory; the next leader goes on at the row
where this one stopped.
"""

import asyncio
import contextlib
import logging
import time
from collections import defaultdict
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from awa.config import Settings
from awa.db import run
from awa.db.pool import Pool, connection
from awa.db.run import Connection
from awa.events import batch as events
from awa.model.errors import AwaError, NotFound
from awa.model.operation import BatchOperation
from awa.model.states import OperationState
from awa.operations import steps
from awa.operations.failures import Failure, judge
from awa.operations.fence import Guard
from awa.operations.pace import Pace, chunk_pace, page_pace
from awa.operations.run import ChunkDone
from awa.operations.steps import Office

log = logging.getLogger("awa.operations")

IDLE_POLL_S: Final = 0.25
BUSY_WAIT_S: Final = 0.05
BUSY_WAIT_MAX_S: Final = 2.0
TROUBLE_WAIT_MAX_S: Final = 10.0
REMEMBERED_MAX: Final = 200


class Runner:
    """Serves operations one step at a time; `guard` is the right to do so."""

    def __init__(self, pool: Pool, guard: Guard, settings: Settings) -> None:
        self._pool = pool
        self._guard = guard
        self._settings = settings
        self._chunks: dict[UUID, Pace] = defaultdict(partial(chunk_pace, settings.batch_chunk_ms))
        self._pages: dict[UUID, Pace] = defaultdict(partial(page_pace, settings.batch_chunk_ms))
        self._busy: dict[UUID, int] = defaultdict(int)

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set; whatever the guard raises when its right ends comes out of here."""
        troubles = 0
        while not stop.is_set():
            try:
                wait_s = 0.0 if await self.step() else await self._idle_s()
                troubles = 0
            except AwaError as problem:
                # The database's trouble, not an operation's: nothing is concluded, all is tried again.
                wait_s = min(BUSY_WAIT_S * 2**troubles, TROUBLE_WAIT_MAX_S)
                troubles += 1
                log.warning("batch operations wait %.2f s: %s", wait_s, problem)
            if wait_s:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), wait_s)

    async def step(self, now: datetime | None = None) -> bool:
        """Serve one operation for one step; False if there is nothing to do now.

        `now` stands in for the database's clock in tests.
        """
        office = Office(self._guard, self._settings.batch_op_retention_days, now)
        async with connection(self._pool) as conn:
            params = {"side_by_side": self._settings.batch_concurrency, "now": now}
            chosen = await run.row(conn, "operations/next", params)
            if chosen is None:
                return False
            self._forget_ended()
            try:
                goes_on = await self._serve(conn, chosen["id"], office)
            except AwaError as error:
                await self._settle(conn, chosen["id"], office, error)
                return True
            if goes_on:
                await run.row(conn, "operations/give_way")
        return True

    async def _serve(self, conn: Connection, operation_id: UUID, office: Office) -> bool:
        """One transaction: enter, lock, look again, do what the state asks for; True if it hasn't waited for the disk.

        So it is after pages and chunks but the last.
        """
        began = time.perf_counter()
        done, scans = None, False
        async with conn.transaction():
            operation = await self._enter(conn, operation_id)
            if operation is None:
                return False
            match operation.state:
                case OperationState.PENDING:
                    await steps.begin(conn, operation, office)
                case OperationState.SCANNING:
                    scans = await steps.scan(conn, operation, office, self._pages[operation_id])
                case OperationState.RUNNING:
                    rows = self._chunks[operation_id].next_rows(operation.max_rows_per_second)
                    done = await steps.change(conn, operation, office, rows)
                case OperationState.CANCELLING:
                    await steps.stop(conn, operation, office)
                case _:
                    return False  # it ended or was paused between the choice and the lock
        self._busy.pop(operation_id, None)
        if done is not None:
            self._learn(operation, done, time.perf_counter() - began)
        return scans or (done is not None and done.operation.pending > 0)

    async def _enter(self, conn: Connection, operation_id: UUID) -> BatchOperation | None:
        """The operation, locked for the transaction that was just begun; None if all are held and it has to stand still."""
        await self._guard.enter(conn)
        return await steps.entered(conn, operation_id)

    def _learn(self, operation: BatchOperation, done: ChunkDone, seconds: float) -> None:
        """After the commit: the pace of the next chunk, and what the metrics hear."""
        self._chunks[operation.id].took(done.taken, seconds)
        events.chunk_took(operation.op_kind, seconds)
        for state, reason, items in done.by_reason:
            events.rows(operation.op_kind, state, items, reason)

    async def _settle(
        self, conn: Connection, operation_id: UUID, office: Office, error: AwaError
    ) -> None:
        """After a step that failed and was rolled back: find out what that means, and record it."""
        verdict = judge(error)
        if isinstance(error, NotFound):
            return  # purged between the choice and the lock
        if verdict is Failure.NO_DATABASE:
            raise error
        if verdict is Failure.TRY_AGAIN:
            await self._calm_down(conn, operation_id, office)
            return
        async with conn.transaction():
            operation = await self._enter(conn, operation_id)
            if operation is None:
                return
            pace = self._chunks[operation_id]
            if verdict is Failure.HOPELESS or operation.state is not OperationState.RUNNING:
                await self._fail(conn, operation, office, error)
            elif pace.tried > 1:
                pace.halve()
            else:
                await steps.error_first(conn, operation, office, error.message)

    async def _fail(
        self, conn: Connection, operation: BatchOperation, office: Office, error: AwaError
    ) -> None:
        if operation.state is OperationState.CANCELLING:
            await steps.stop(conn, operation, office)
        elif operation.state in {
            OperationState.PENDING,
            OperationState.SCANNING,
            OperationState.RUNNING,
        }:
            await office.fail(conn, operation, error.message)

    async def _calm_down(self, conn: Connection, operation_id: UUID, office: Office) -> None:
        """The database was busy: smaller steps, and others first for a moment."""
        self._chunks[operation_id].calm()
        self._pages[operation_id].calm()
        self._busy[operation_id] += 1
        pause_s = min(BUSY_WAIT_S * 2 ** min(self._busy[operation_id], 10), BUSY_WAIT_MAX_S)
        async with conn.transaction():
            await self._guard.enter(conn)
            await run.row(
                conn,
                "operations/pause",
                {"id": operation_id, "runner": office.guard.holder, "pause_s": pause_s},
            )

    async def _idle_s(self) -> float:
        """How long there is nothing to do: until the next operation is due, or a poll."""
        async with connection(self._pool) as conn:
            due_s: float | None = await run.value(conn, "operations/next_due", {"now": None})
        return IDLE_POLL_S if due_s is None else max(0.01, min(due_s, IDLE_POLL_S))

    def _forget_ended(self) -> None:
        """Operations that ended elsewhere leave their pace behind; it is not worth keeping account."""
        for memory in (self._chunks, self._pages, self._busy):
            if len(memory) > REMEMBERED_MAX:
                memory.clear()
