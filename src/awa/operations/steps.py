"""One step of one operation: one transaction, chosen by the state in which the operation is found.

Each step locks the operation's row, looks at the state again, and does the one thing that this state
asks for. So it does not matter who ran the step before, or whether it came to its end: a step that
was broken off has not happened, and whoever takes the next one finds out what it is.
"""

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from awa.db import run
from awa.db.run import Connection
from awa.events import batch as events
from awa.model.errors import ValidationError
from awa.model.operation import BatchOperation, operation_from_row
from awa.model.states import OperationState
from awa.operations import transition
from awa.operations.fence import Guard
from awa.operations.pace import Pace
from awa.operations.run import ChunkDone, first_pending, give_up_on, run_chunk
from awa.operations.scan import Scan, phases
from awa.operations.task import understand

ERROR_BUDGET_ITEMS: Final = 50


@dataclass(frozen=True, slots=True)
class Office:
    """Under what terms steps are taken: whose right, how long ended operations stay, and the time."""

    guard: Guard
    retention_days: float
    now: datetime | None = None

    @property
    def actor(self) -> str:
        """Who stands in the events for what the runner does."""
        return f"runtime {self.guard.holder}"

    async def move(
        self,
        conn: Connection,
        operation: BatchOperation,
        after: OperationState,
        *,
        reason: str | None = None,
        error: str | None = None,
    ) -> BatchOperation:
        """Move an operation that this step holds."""
        return await transition.move(
            conn,
            operation,
            after,
            actor=self.actor,
            reason=reason,
            error=error,
            runner=self.guard.holder,
            retention_days=self.retention_days,
            now=self.now,
        )

    async def fail(self, conn: Connection, operation: BatchOperation, why: str) -> BatchOperation:
        """End an operation that cannot go on; it blocks nobody."""
        return await self.move(conn, operation, OperationState.FAILED, reason=why, error=why)


async def begin(conn: Connection, operation: BatchOperation, office: Office) -> None:
    """pending: fix what the scan may see, or fail at once if filter or spec make no sense."""
    try:
        task = understand(operation)
    except ValidationError as problem:
        await office.fail(conn, operation, problem.message)
        return
    await office.move(conn, operation, OperationState.SCANNING)
    params = {
        "id": operation.id,
        "phase": phases(task.given, operation.undo_of)[0],
        "now": office.now,
    }
    await run.row(conn, "operations/begin_scan", params)


async def scan(conn: Connection, operation: BatchOperation, office: Office, pace: Pace) -> bool:
    """scanning: list jobs for about one chunk's time; when all are listed, the run begins. True if there are more to list."""
    try:
        task = understand(operation)
    except ValidationError as problem:
        await office.fail(conn, operation, problem.message)
        return False
    walk = Scan(conn, operation, task.given)
    cursor: dict[str, Any] | None = operation.cursor
    listed, began = 0, time.perf_counter()
    while cursor is not None:
        page_began = time.perf_counter()
        page = await walk.page(cursor, pace.rows)
        pace.took(page.rows, time.perf_counter() - page_began)
        listed, cursor = listed + page.listed, page.cursor
        if time.perf_counter() - began >= pace.target_s:
            break
    kept = {
        "id": operation.id,
        "listed": listed,
        "cursor": Jsonb(cursor or {}),
        "runner": office.guard.holder,
    }
    await run.row(conn, "operations/account_scan", kept)
    if cursor is None:
        await office.move(conn, operation, OperationState.RUNNING)
    return cursor is not None


async def change(
    conn: Connection, operation: BatchOperation, office: Office, rows: int
) -> ChunkDone | None:
    """running: one chunk; completed when nothing is pending, failed when too much went wrong."""
    try:
        task = understand(operation)
    except ValidationError as problem:
        await office.fail(conn, operation, problem.message)
        return None
    done = None
    if operation.pending:
        done = await run_chunk(conn, operation, task, rows=rows, guard=office.guard)
        operation = done.operation
    await _end_if_due(conn, operation, office)
    return done


async def error_first(
    conn: Connection, operation: BatchOperation, office: Office, error: str
) -> None:
    """running: the item that comes first failed on its own; account it and go on behind it."""
    job_id = await first_pending(conn, operation)
    if job_id is not None:
        operation = await give_up_on(conn, operation, job_id, error, guard=office.guard)
        events.rows(operation.op_kind, "errored", 1, "failed")
    await _end_if_due(conn, operation, office)


async def stop(conn: Connection, operation: BatchOperation, office: Office) -> None:
    """cancelling: nothing is under way, so it is cancelled; what is pending stays as it is."""
    await office.move(conn, operation, OperationState.CANCELLED)


async def _end_if_due(conn: Connection, operation: BatchOperation, office: Office) -> None:
    accounted = operation.processed + operation.skipped + operation.errored
    if accounted >= ERROR_BUDGET_ITEMS and 2 * operation.errored > accounted:
        why = f"error budget spent: {operation.errored} of {accounted} items errored"
        await office.fail(conn, operation, f"{why}; the last: {operation.last_error}")
    elif not operation.pending:
        await office.move(conn, operation, OperationState.COMPLETED)


async def entered(conn: Connection, operation_id: UUID) -> BatchOperation | None:
    """The operation, locked for this step; None while all operations are held, unless it only has to be ended.

    Whoever turns the switch waits for the steps that are under way, and this one sees where it stands until it is done.
    """
    await run.row(conn, "operations/switch_shared")
    row = await transition.hold(conn, operation_id)
    operation = operation_from_row(row)
    if row["held"] and operation.state is not OperationState.CANCELLING:
        return None
    return operation
