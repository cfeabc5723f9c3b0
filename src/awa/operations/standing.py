"""How an operation stands, in the figures and words that an operator asks for: how fast, how long yet, what holds it up.

Everything is worked out of the operation's row; nothing is measured twice. What holds it up is named, never
just "waiting": whoever looks at three in the morning has to know whether to wait, to cancel, or to start a leader.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from awa.model.states import ACTIVE_OPERATION_STATES, OperationState

RATE_OVER_S: Final = 10.0
SILENT_AFTER_S: Final = 10.0
_UNLED: Final = (
    "Nobody carries it out: no maintenance leader is alive. Start a worker, or awa maintenance run."
)


@dataclass(frozen=True, slots=True)
class Standing:
    """Rate and time left are None where nobody can know them; `held` is a sentence, or None if nothing holds it up."""

    active: bool
    rate_per_s: float | None
    seconds_left: float | None
    held: str | None


def standing(
    operation: Mapping[str, Any],
    *,
    now: datetime,
    led: bool,
    ahead: int = 0,
    side_by_side: int = 2,
    hold: Mapping[str, Any] | None = None,
) -> Standing:
    """How an operation (as `read.get` gives it) stands.

    `led`: a maintenance leader is alive; `ahead`: how many operations are under way or before it; `hold`: whether all
    are held, as `switch.present` gives it.
    """
    state = OperationState(operation["state"])
    if state not in ACTIVE_OPERATION_STATES:
        return Standing(False, _whole_rate(operation), None, None)
    rate = _present_rate(operation, now) if state is OperationState.RUNNING else None
    pending = operation.get("pending")
    if hold is not None and hold["held"]:
        rate = None  # what it was says nothing of what comes
    left = pending / rate if rate and pending and state is OperationState.RUNNING else None
    held: str | None = None
    if state is OperationState.PAUSED:
        held = _said("Paused by", operation["paused_by"], operation["paused_reason"])
    elif not led:
        held = _UNLED
    elif hold is not None and hold["held"] and state is not OperationState.CANCELLING:
        held = _said("All operations are held by", hold["held_by"], hold["reason"])
    elif state is OperationState.PENDING:
        held = _not_begun(operation, now, ahead, side_by_side)
    else:
        held = _held(operation, state, now)
    return Standing(True, rate, left, held)


def _said(what: str, who: str, why: str | None) -> str:
    return f"{what} {who}: “{why}”" if why else f"{what} {who}."


def _not_begun(
    operation: Mapping[str, Any], now: datetime, ahead: int, side_by_side: int
) -> str | None:
    not_before = operation.get("not_before")
    if not_before is not None and not_before > now:
        begins = not_before.astimezone(UTC)
        return f"It is not begun before {begins:%Y-%m-%d %H:%M:%S} UTC, as was asked for."
    return _waits_for_turn(ahead, side_by_side) if ahead >= side_by_side else None


def _waits_for_turn(ahead: int, side_by_side: int) -> str:
    return f"It waits for its turn: {ahead} others come first, {side_by_side} are carried out at a time."


def _held(operation: Mapping[str, Any], state: OperationState, now: datetime) -> str | None:
    wait_until = operation.get("wait_until")
    if wait_until is not None and wait_until > now:
        return _waits(operation)
    limit, paced_until = operation.get("max_rows_per_second"), operation.get("paced_until")
    if limit and paced_until is not None and paced_until > now:
        return f"Throttled to {limit:,} jobs a second, as was asked for."
    silent_s = (now - operation["updated_at"]).total_seconds()
    if silent_s > SILENT_AFTER_S and state is not OperationState.CANCELLING:
        return f"Nothing has been heard of it for {silent_s:.0f} s; the leader is busy or has just changed."
    return None


def _waits(operation: Mapping[str, Any]) -> str:
    passes = (operation.get("cursor") or {}).get("pass", 1)
    if passes > 1:
        return (
            f"It waits for jobs that other transactions hold locked (pass {passes}); "
            "it looks at them again every few seconds."
        )
    return "Throttled: the database was busy (a lock or time-out), so it takes smaller steps for a moment."


def _present_rate(operation: Mapping[str, Any], now: datetime) -> float | None:
    """Items a second over the last ten seconds of work; None before the first chunk."""
    points = operation.get("chunk_times") or []
    if not points or operation.get("started_at") is None:
        return None
    newest = points[-1]["at_s"]
    recent = [point for point in points if point["at_s"] > newest - RATE_OVER_S]
    began = points[-len(recent) - 1]["at_s"] if len(recent) < len(points) else None
    if began is None:
        # The first chunk began before its point says it was done.
        first = recent[0]
        began = first["at_s"] - first["mean_ms"] * first["chunks"] / 1000
    since = max((now - operation["started_at"]).total_seconds(), newest) - began
    items = sum(point["items"] for point in recent)
    return items / since if since > 0 else None


def _whole_rate(operation: Mapping[str, Any]) -> float | None:
    """Items a second from beginning to end, the scan included."""
    began, ended = operation.get("started_at"), operation.get("finalized_at")
    if began is None or ended is None:
        return None
    seconds = (ended - began).total_seconds()
    accounted = operation["processed"] + operation["skipped"] + operation["errored"]
    return accounted / seconds if seconds > 0 and accounted else None
