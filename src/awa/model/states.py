"""States are data: which moves exist, and one sentence for each arrow.

A job is at every moment in exactly one place, and the state names that place. A batch operation
is driven by the maintenance leader alone, except for its pause and its cancellation. Any move that is not in
these tables is refused; the tests walk through all pairs.
"""

from enum import StrEnum
from typing import Final, TypeVar

from awa.model.errors import Conflict


class JobState(StrEnum):
    """Where a job is."""

    SCHEDULED = "scheduled"
    AVAILABLE = "available"
    RUNNING = "running"
    COMPLETED = "completed"
    RETRYABLE = "retryable"
    FAILED = "failed"
    CANCELLED = "cancelled"
    WAITING_EXTERNAL = "waiting_external"


class OperationState(StrEnum):
    """How far a batch operation has come."""

    PENDING = "pending"
    SCANNING = "scanning"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


class ItemState(StrEnum):
    """What became of one job of a batch operation; an item leaves `pending` once."""

    PENDING = "pending"
    PROCESSED = "processed"
    SKIPPED = "skipped"
    ERRORED = "errored"


JOB_MOVES: Final[dict[tuple[JobState, JobState], str]] = {
    (JobState.SCHEDULED, JobState.AVAILABLE): "Its time has come and the leader put it in a lane.",
    (JobState.SCHEDULED, JobState.CANCELLED): "Somebody cancelled it before its time.",
    (JobState.AVAILABLE, JobState.RUNNING): "A runtime claimed it.",
    (JobState.AVAILABLE, JobState.CANCELLED): "Somebody cancelled it before it was claimed.",
    (JobState.RUNNING, JobState.COMPLETED): "The handler returned without complaint.",
    (JobState.RUNNING, JobState.RETRYABLE): "The attempt failed and others are left.",
    (JobState.RUNNING, JobState.SCHEDULED): "The handler snoozed it; the attempt does not count.",
    (JobState.RUNNING, JobState.AVAILABLE): "The runtime handed it back unfinished at shutdown.",
    (JobState.RUNNING, JobState.FAILED): "The attempt failed for good, or it was the last one.",
    (JobState.RUNNING, JobState.CANCELLED): "Its handler or an operator cancelled the attempt.",
    (JobState.RUNNING, JobState.WAITING_EXTERNAL): "The handler waits for a callback.",
    (JobState.WAITING_EXTERNAL, JobState.COMPLETED): "The callback reported success.",
    (
        JobState.WAITING_EXTERNAL,
        JobState.AVAILABLE,
    ): "The callback resumed it; the attempt goes on.",
    (
        JobState.WAITING_EXTERNAL,
        JobState.RETRYABLE,
    ): "Another attempt was asked for, or time is up.",
    (JobState.WAITING_EXTERNAL, JobState.FAILED): "The callback failed, or no attempt is left.",
    (JobState.WAITING_EXTERNAL, JobState.CANCELLED): "Somebody cancelled it while it waited.",
    (
        JobState.RETRYABLE,
        JobState.AVAILABLE,
    ): "The backoff is over and the leader put it in a lane.",
    (JobState.RETRYABLE, JobState.CANCELLED): "Somebody cancelled it between two attempts.",
    (JobState.FAILED, JobState.AVAILABLE): "An operator asked for it to be tried again.",
    (JobState.CANCELLED, JobState.AVAILABLE): "An operator asked for it to be tried again.",
}

OPERATION_MOVES: Final[dict[tuple[OperationState, OperationState], str]] = {
    (OperationState.PENDING, OperationState.SCANNING): "The leader began to collect its jobs.",
    (OperationState.PENDING, OperationState.CANCELLED): "It was cancelled before it began.",
    (OperationState.PENDING, OperationState.PAUSED): "It was paused before it began.",
    (OperationState.PENDING, OperationState.FAILED): "Its filter or spec cannot be carried out.",
    (OperationState.SCANNING, OperationState.RUNNING): "All its jobs are listed.",
    (OperationState.SCANNING, OperationState.PAUSED): "It was paused while its jobs were listed.",
    (OperationState.SCANNING, OperationState.CANCELLING): "Its cancellation was asked for.",
    (OperationState.SCANNING, OperationState.FAILED): "Its filter or spec cannot be carried out.",
    (OperationState.RUNNING, OperationState.PAUSED): "It was paused between two chunks.",
    (OperationState.RUNNING, OperationState.CANCELLING): "Its cancellation was asked for.",
    (OperationState.RUNNING, OperationState.COMPLETED): "No item is pending any more.",
    (OperationState.RUNNING, OperationState.FAILED): "It cannot go on, or too many items errored.",
    (
        OperationState.PAUSED,
        OperationState.PENDING,
    ): "It was resumed, and begins when its turn comes.",
    (
        OperationState.PAUSED,
        OperationState.SCANNING,
    ): "It was resumed, and goes on listing its jobs.",
    (
        OperationState.PAUSED,
        OperationState.RUNNING,
    ): "It was resumed, and goes on changing its jobs.",
    (
        OperationState.PAUSED,
        OperationState.CANCELLED,
    ): "It was cancelled; nothing of it was under way.",
    (OperationState.CANCELLING, OperationState.CANCELLED): "The runner stopped between two chunks.",
}

WAITING_STATES: Final = frozenset({JobState.AVAILABLE, JobState.SCHEDULED, JobState.RETRYABLE})
TERMINAL_STATES: Final = frozenset({JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED})

ACTIVE_OPERATION_STATES: Final = frozenset(
    {
        OperationState.PENDING,
        OperationState.SCANNING,
        OperationState.RUNNING,
        OperationState.PAUSED,
        OperationState.CANCELLING,
    }
)
FINAL_OPERATION_STATES: Final = frozenset(OperationState) - ACTIVE_OPERATION_STATES
# Those that still have a pace and a turn, so that both can be changed.
STEERABLE_OPERATION_STATES: Final = ACTIVE_OPERATION_STATES - {OperationState.CANCELLING}

S = TypeVar("S", JobState, OperationState)


def moves_from(moves: dict[tuple[S, S], str], state: S) -> frozenset[S]:
    """The states that can be reached from `state` in one move."""
    return frozenset(after for before, after in moves if before == state)


def check_operation_move(before: OperationState, after: OperationState) -> None:
    """Raise `Conflict` with the present state unless the table has this move."""
    if (before, after) in OPERATION_MOVES:
        return
    wish = _WISHES.get(after, f"become {after}")
    raise Conflict(
        f"an operation that is {before} cannot {wish}",
        hint=_way_out(before, after),
        details={"state": before.value, "wanted": after.value},
    )


def check_resumable(before: OperationState) -> None:
    """Raise `Conflict` with the present state unless it is that of an operation that can be resumed."""
    if before is OperationState.PAUSED:
        return
    raise Conflict(
        f"an operation that is {before} cannot be resumed",
        hint=_ENDED if before in FINAL_OPERATION_STATES else "only a paused one can",
        details={"state": before.value, "wanted": OperationState.RUNNING.value},
    )


def check_steerable(before: OperationState) -> None:
    """Raise `Conflict` with the present state unless an operation in it can get another rate or priority."""
    if before in STEERABLE_OPERATION_STATES:
        return
    raise Conflict(
        f"an operation that is {before} cannot get another rate or priority",
        hint="it ends after its present chunk" if before is OperationState.CANCELLING else _ENDED,
        details={"state": before.value},
    )


_CANCELLED: Final = frozenset({OperationState.CANCELLING, OperationState.CANCELLED})
_WISHES: Final = {
    OperationState.CANCELLING: "be cancelled",
    OperationState.CANCELLED: "be cancelled",
    OperationState.PAUSED: "be paused",
}
_ENDED: Final = "it has ended, and what it changed stays changed"


def _way_out(before: OperationState, after: OperationState) -> str:
    possible = moves_from(OPERATION_MOVES, before)
    if not possible:
        return _ENDED
    if before is after is OperationState.PAUSED:
        return "that was asked for already; it can be resumed or cancelled"
    if before in _CANCELLED and after in _CANCELLED:
        return "that was asked for already; it ends after its present chunk"
    return "from here it can become " + " or ".join(sorted(possible))
