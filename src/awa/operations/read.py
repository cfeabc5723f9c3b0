"""What operators see of operations: the detail with its totals, pages of operations, of items, and the events.

Pages go by key: a cursor names the last row that was shown, so a page costs the same wherever it lies.
"""

import base64
from datetime import datetime
from typing import Any
from uuid import UUID

from awa.db import run
from awa.db.run import Connection
from awa.model.errors import invalid_field
from awa.model.limits import JOB_ID_MAX, PAGE_DEFAULT_ROWS, check_page
from awa.model.operation import chunk_times
from awa.model.states import ACTIVE_OPERATION_STATES, ItemState, OperationState
from awa.operations.transition import as_uuid, no_such_operation

Row = dict[str, Any]
Page = tuple[list[Row], str | None]


async def get(conn: Connection, operation_id: UUID | str) -> Row:
    """One operation with `pending`, its `totals` by outcome and reason, and `chunk_times`. Raises `NotFound`."""
    row = await run.row(conn, "operations/get", {"id": as_uuid(operation_id)})
    if row is None:
        raise no_such_operation(operation_id)
    return {**row, "chunk_times": chunk_times(row.pop("chunks"))}


async def submitted_with(conn: Connection, idempotency_key: str) -> UUID | None:
    """The operation that was submitted with this key, if there is one."""
    found: UUID | None = await run.value(
        conn, "operations/submitted_with", {"idempotency_key": idempotency_key}
    )
    return found


async def operations_page(
    conn: Connection,
    *,
    state: str | None = None,
    limit: int = PAGE_DEFAULT_ROWS,
    cursor: str | None = None,
) -> Page:
    """Operations, newest first, and the cursor of the next page if there is one."""
    before_at, before_id = _decode_operation(cursor)
    params = {
        "state": None if state is None else _choice(OperationState, "state", state),
        "before_at": before_at,
        "before_id": before_id,
        "limit": check_page(limit) + 1,
    }
    found = await run.rows(conn, "operations/list", params)
    shown = found[:limit]
    for row in shown:
        del row["chunks"]  # told by `get`, and in words
    more = len(found) > limit
    return shown, _encode(
        f"{shown[-1]['submitted_at'].isoformat()} {shown[-1]['id']}"
    ) if more else None


async def items_page(
    conn: Connection,
    operation_id: UUID | str,
    *,
    outcome: str | None = None,
    reason: str | None = None,
    limit: int = PAGE_DEFAULT_ROWS,
    cursor: str | None = None,
) -> Page:
    """Items of an operation by job id, and the cursor of the next page if there is one."""
    wanted = as_uuid(operation_id)
    params = {
        "id": wanted,
        "outcome": checked_outcome(outcome),
        "reason": reason,
        "after": _decode_item(cursor),
        "limit": check_page(limit) + 1,
    }
    found = await run.rows(conn, "operations/items", params)
    if not found:
        await get(conn, wanted)
    shown = found[:limit]
    return shown, _encode(str(shown[-1]["job_id"])) if len(found) > limit else None


async def events(conn: Connection, operation_id: UUID | str) -> list[Row]:
    """What happened to an operation, oldest first. Raises `NotFound`."""
    wanted = as_uuid(operation_id)
    found = await run.rows(conn, "operations/events", {"id": wanted})
    if not found:
        await get(conn, wanted)
    return found


async def active_counts(conn: Connection) -> dict[str, int]:
    """How many operations are in each state that is not final; states without any are zero."""
    found = await run.rows(conn, "operations/active_counts")
    counts = {row["state"]: row["operations"] for row in found}
    return {
        state.value: counts.get(state, 0)
        for state in OperationState
        if state in ACTIVE_OPERATION_STATES
    }


def checked_outcome(outcome: str | None) -> str | None:
    """The state of items that is asked for, None for any. Raises `ValidationError`."""
    return None if outcome is None else _choice(ItemState, "outcome", outcome)


def _choice(states: type[OperationState] | type[ItemState], field: str, given: object) -> str:
    for state in states:
        if given == state.value:
            return state.value
    raise invalid_field(field, f"expected one of {', '.join(states)}, got {given!r}")


def _encode(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decode(cursor: str) -> str:
    return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()


def _decode_operation(cursor: str | None) -> tuple[datetime | None, UUID | None]:
    if cursor is None:
        return None, None
    try:
        at, _, identity = _decode(cursor).partition(" ")
        return datetime.fromisoformat(at), UUID(identity)
    except (ValueError, TypeError):
        raise _bad_cursor(cursor) from None


def _decode_item(cursor: str | None) -> int:
    if cursor is None:
        return 0
    try:
        job_id = int(_decode(cursor))
    except (ValueError, TypeError):
        raise _bad_cursor(cursor) from None
    if not 0 <= job_id <= JOB_ID_MAX:
        raise _bad_cursor(cursor)
    return job_id


def _bad_cursor(cursor: object) -> Exception:
    return invalid_field("cursor", f"{cursor!r} is not a cursor that a page returned")
