"""Callbacks answered from outside, one at a time, and looked at.

The database decides in one function what an answer comes to. Here what it said becomes a value or an error: an answer that
came too late, or twice, is a Conflict that says what was first.
"""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from awa.db.run import Connection, Row
from awa.events import callbacks as events
from awa.model.callback import (
    Action,
    check_action,
    check_callback_id,
    check_error,
    check_payload,
    check_timeout,
)
from awa.model.errors import Conflict, NotFound, invalid_field
from awa.model.limits import check_actor
from awa.storage import callbacks
from awa.storage.callbacks import Resolved

_DONE: Final = {
    "complete": "it was completed",
    "fail": "it was failed",
    "retry": "another attempt was asked for",
    "resume": "its job was resumed",
    "time_out": "its time was over",
    "abandoned": "its time was over and nobody waited for it",
}


async def answer(
    conn: Connection,
    callback_id: UUID | str,
    action: Action | str,
    *,
    payload: Any = None,
    error: Any = None,
    timeout_seconds: float | None = None,
    by: str | None = None,
) -> dict[str, Any]:
    """Answer a callback: callback_id, action, outcome (applied, recorded or extended), job_id, state, expires_at.

    Raises ValidationError, NotFound, and Conflict if it was answered before, timed out, or isn't waited for any more.
    """
    found_id, asked = check_callback_id(callback_id), check_action(action)
    if timeout_seconds is not None and asked is not Action.HEARTBEAT:
        raise invalid_field("timeout_seconds", "is for a heartbeat only")
    told = check_error(error)
    resolved = await callbacks.resolve(
        conn,
        found_id,
        asked.value,
        payload=check_payload(payload),
        error=told if asked in {Action.FAIL, Action.RETRY} else None,
        by=None if by is None else check_actor(by, field="by"),
        timeout_s=None if timeout_seconds is None else check_timeout(timeout_seconds),
    )
    events.answered(asked.value, resolved.outcome)
    _refuse(found_id, resolved)
    return {
        "callback_id": found_id,
        "action": asked.value,
        "outcome": resolved.outcome,
        "job_id": resolved.job_id,
        "state": resolved.job_state,
        "expires_at": resolved.expires_at,
    }


async def get(conn: Connection, callback_id: UUID | str) -> Row:
    """A callback and how it stands. Raises NotFound, ValidationError."""
    found_id = check_callback_id(callback_id)
    found = await callbacks.get(conn, found_id)
    if found is None:
        raise _unknown(found_id)
    return found


def _refuse(callback_id: UUID, resolved: Resolved) -> None:
    """Raise what an answer that changed nothing is."""
    if resolved.outcome == "not_found":
        raise _unknown(callback_id)
    if resolved.outcome not in {"resolved", "over", "late"}:
        return
    job = f"job {resolved.job_id} is {resolved.job_state or 'gone'}"
    details = {
        "reason": resolved.outcome,
        "job_id": resolved.job_id,
        "state": resolved.job_state,
        "resolution": resolved.resolution,
        "resolved_at": None if resolved.resolved_at is None else resolved.resolved_at.isoformat(),
        "expires_at": None if resolved.expires_at is None else resolved.expires_at.isoformat(),
    }
    if resolved.outcome == "over":
        raise Conflict(
            f"nothing waits for callback {callback_id} any more: {job}",
            hint="its attempt ended in another way, and nothing was changed",
            details=details,
        )
    if resolved.outcome == "late":
        raise Conflict(
            f"the answer to callback {callback_id} came too late: its time was over at"
            f" {details['expires_at']}, and {job}",
            hint="the job gets its next attempt, or fails if that was the last; nothing was changed",
            details=details,
        )
    by = f" by {resolved.resolved_by}" if resolved.resolved_by else ""
    raise Conflict(
        f"callback {callback_id} is over: {_DONE[resolved.resolution or 'abandoned']}{by}"
        f" at {details['resolved_at']}, and {job}",
        hint="the first answer counts, and nothing was changed",
        details=details,
    )


def _unknown(callback_id: UUID) -> NotFound:
    return NotFound(
        f"there is no callback {callback_id}", hint="it may have been removed after its retention"
    )
