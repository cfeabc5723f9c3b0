"""What an operator may do to an operation that was submitted: pause it, let it go on, change its pace, cancel it.

Each deed locks the operation's row, so it waits for the chunk that is under way and comes between two chunks: when a
pause has returned, nothing of the operation is being changed. A paused operation remembers where it was and goes on
there, its scan with the same bound and at the same place. One that is paused or has not begun is cancelled at once;
one that is under way becomes `cancelling`, and the runner ends it. Rows that were changed stay changed.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from awa.db import run
from awa.db.run import Connection
from awa.model.limits import check_actor, check_reason
from awa.model.operation import BatchOperation, operation_from_row
from awa.model.states import OperationState, check_resumable, check_steerable
from awa.operations import read
from awa.operations.transition import as_uuid, hold, move

_NOTHING_UNDER_WAY = frozenset({OperationState.PENDING, OperationState.PAUSED})


async def cancel(
    conn: Connection,
    operation_id: UUID | str,
    *,
    actor: str | None = None,
    reason: str | None = None,
    retention_days: float | None = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Cancel an operation; returns it as it stands then.

    `actor` None is the database's session_user. Raises `NotFound`, and `Conflict` with the present
    state if it has ended or is being cancelled already.
    """
    who = _who(actor, reason)
    wanted = as_uuid(operation_id)
    async with conn.transaction():
        operation = await _held(conn, wanted)
        at_once = operation.state in _NOTHING_UNDER_WAY
        after = OperationState.CANCELLED if at_once else OperationState.CANCELLING
        await move(conn, operation, after, **who, retention_days=retention_days, now=now)
    return await read.get(conn, wanted)


async def pause(
    conn: Connection,
    operation_id: UUID | str,
    *,
    actor: str | None = None,
    reason: str | None = None,
) -> dict[str, Any]:
    """Pause an operation that waits, scans or runs; returns it as it stands then.

    Waits for its present chunk. Raises `NotFound`, and `Conflict` with the present state.
    """
    who = _who(actor, reason)
    wanted = as_uuid(operation_id)
    async with conn.transaction():
        await move(conn, await _held(conn, wanted), OperationState.PAUSED, **who)
    return await read.get(conn, wanted)


async def resume(
    conn: Connection,
    operation_id: UUID | str,
    *,
    actor: str | None = None,
    reason: str | None = None,
) -> dict[str, Any]:
    """Let a paused operation go on where it was; returns it as it stands then. Raises `NotFound` and `Conflict`."""
    who = _who(actor, reason)
    wanted = as_uuid(operation_id)
    async with conn.transaction():
        operation = await _held(conn, wanted)
        check_resumable(operation.state)
        assert operation.paused_from is not None, "a check of the table"
        await move(conn, operation, operation.paused_from, **who)
    return await read.get(conn, wanted)


async def change(
    conn: Connection,
    operation_id: UUID | str,
    changes: Mapping[str, Any],
    *,
    actor: str | None = None,
    reason: str | None = None,
) -> dict[str, Any]:
    """Give an operation another rate or priority (`model.steering.operation_changes`); returns it as it stands then.

    Faster counts at once, slower after the present chunk. Raises `NotFound`, and `Conflict` if it is ending or has ended.
    """
    who = _who(actor, reason)
    wanted = as_uuid(operation_id)
    params = {
        "id": wanted,
        "set_rate": "max_rows_per_second" in changes,
        "set_priority": "priority" in changes,
        "max_rows_per_second": None,
        "priority": None,
        **changes,
        **who,
    }
    async with conn.transaction():
        check_steerable((await _held(conn, wanted)).state)
        await run.row(conn, "operations/adjust", params)
    return await read.get(conn, wanted)


async def _held(conn: Connection, operation_id: UUID) -> BatchOperation:
    return operation_from_row(await hold(conn, operation_id))


def _who(actor: str | None, reason: str | None) -> dict[str, Any]:
    checked = None if actor is None else check_actor(actor)
    return {"actor": checked, "reason": check_reason(reason)}
