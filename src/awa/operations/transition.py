"""Moves an operation from state to state: one arrow of the table, one statement, one event.

Every move of every operation goes through `move`, so each is checked against the table, and each
leaves who did it, when and why in `awa.batch_operation_events`.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from awa.config import Settings
from awa.db import run
from awa.db.run import Connection
from awa.events import batch as events
from awa.model.errors import Conflict, NotFound
from awa.model.operation import BatchOperation, operation_from_row
from awa.model.states import FINAL_OPERATION_STATES, OperationState, check_operation_move

DAY_S = 86_400.0


async def hold(conn: Connection, operation_id: UUID) -> dict[str, Any]:
    """Lock the operation's row for this transaction and return it as it stands now."""
    row = await run.row(conn, "operations/hold", {"id": operation_id})
    if row is None:
        raise no_such_operation(operation_id)
    return row


async def move(
    conn: Connection,
    operation: BatchOperation,
    after: OperationState,
    *,
    actor: str | None,
    reason: str | None = None,
    error: str | None = None,
    runner: UUID | None = None,
    retention_days: float | None = None,
    now: datetime | None = None,
) -> BatchOperation:
    """Move an operation that this transaction holds; `actor` None is the database's session_user.

    Raises `Conflict` with the present state for a move that the table does not have.
    """
    check_operation_move(operation.state, after)
    final = after in FINAL_OPERATION_STATES
    if final and retention_days is None:
        retention_days = Settings.from_env().batch_op_retention_days
    params = {
        "id": operation.id,
        "from_state": operation.state.value,
        "to_state": after.value,
        "actor": actor,
        "reason": reason,
        "error": error,
        "runner": runner,
        "final": final,
        "retention_s": None if retention_days is None else retention_days * DAY_S,
        "now": now,
    }
    row = await run.row(conn, "operations/transition", params)
    if row is None:  # the row is held, so this is a mistake of the caller
        raise Conflict(f"operation {operation.id} is no longer {operation.state}")
    if final:
        events.finalized(operation.op_kind, after.value)
    return operation_from_row(row)


def no_such_operation(operation_id: object) -> NotFound:
    """The error for an id that names no operation."""
    return NotFound(f"there is no batch operation {operation_id}")


def as_uuid(operation_id: UUID | str) -> UUID:
    """The id as a UUID; text that is none names no operation."""
    if isinstance(operation_id, UUID):
        return operation_id
    try:
        return UUID(operation_id)
    except (ValueError, AttributeError, TypeError):
        raise no_such_operation(operation_id) from None
