"""What an operator may do to an operation that was submitted: for now, cancel it.

An operation that has not begun is cancelled at once. One that is under way becomes `cancelling`, and
the runner ends it between two chunks: rows that were changed stay changed, the rest stays as it is.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from awa.db.run import Connection
from awa.model.limits import check_actor, check_reason
from awa.model.operation import operation_from_row
from awa.model.states import OperationState
from awa.operations import read
from awa.operations.transition import as_uuid, hold, move


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
    actor = None if actor is None else check_actor(actor)
    reason = check_reason(reason)
    wanted = as_uuid(operation_id)
    async with conn.transaction():
        operation = operation_from_row(await hold(conn, wanted))
        not_begun = operation.state is OperationState.PENDING
        after = OperationState.CANCELLED if not_begun else OperationState.CANCELLING
        await move(
            conn,
            operation,
            after,
            actor=actor,
            reason=reason,
            retention_days=retention_days,
            now=now,
        )
    return await read.get(conn, wanted)
