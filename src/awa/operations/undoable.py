"""Whether an operation can be undone, and if not why: one place that says it, for whoever undoes, previews or shows it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from awa.model.errors import Conflict, ValidationError
from awa.model.states import ACTIVE_OPERATION_STATES, OperationState
from awa.operations import kinds

_AGAIN: Final = "to have its jobs changed again, undo that undo, or submit a new operation"


def check_undoable(operation: Mapping[str, Any], undos: Sequence[Mapping[str, Any]]) -> None:
    """Raise `Conflict` unless the operation has ended and left something that is still to be put back.

    `operation` is its row, `undos` are those that it has had, as `operations/undos` gives them.
    """
    state = OperationState(operation["state"])
    if state in ACTIVE_OPERATION_STATES:
        raise _refused(
            operation,
            f"an operation that is {state} cannot be undone",
            "wait until it has ended, or cancel it; then undo what it has changed",
        )
    _check_known(operation)
    active = [undo for undo in undos if undo["state"] in ACTIVE_OPERATION_STATES]
    if active:
        raise _refused(
            operation,
            f"operation {operation['id']} is being undone: {active[-1]['id']} is {active[-1]['state']}",
            "wait until that has ended",
            active[-1],
        )
    taken_back = sum(undo["processed"] for undo in undos)
    if undos and taken_back >= operation["processed"]:
        raise _refused(
            operation,
            f"operation {operation['id']} has been undone already, by {undos[-1]['id']}",
            _AGAIN,
            undos[-1],
        )


def why_not_undoable(
    operation: Mapping[str, Any], undos: Sequence[Mapping[str, Any]]
) -> str | None:
    """Why it can't be undone now, in a sentence; None: it can."""
    try:
        check_undoable(operation, undos)
    except Conflict as refused:
        return refused.message
    return None


def _check_known(operation: Mapping[str, Any]) -> None:
    """What an undo needs of an operation: that it changed something, and that this is still kept."""
    try:
        way_back = kinds.of_operation(operation["op_kind"], operation["spec"]).put_back
    except ValidationError:
        way_back = None
    if way_back is None:
        raise _refused(operation, f"what a {operation['op_kind']} changed can't be undone")
    if not operation["processed"]:
        raise _refused(
            operation, f"operation {operation['id']} changed nothing, so there is nothing to undo"
        )
    if operation["purge_began_at"] is not None:
        raise _refused(
            operation,
            f"operation {operation['id']} is being deleted: its retention has ended, and what an undo needs is gone",
            "submit a new operation that puts the jobs where they should be",
        )
    if not operation["keeps_places"]:
        raise _refused(
            operation,
            f"operation {operation['id']} was carried out by an older version, which did not keep where it left its jobs",
            "submit a new operation that puts the jobs where they should be",
        )


def _refused(
    operation: Mapping[str, Any],
    message: str,
    hint: str | None = None,
    undo: Mapping[str, Any] | None = None,
) -> Conflict:
    details = {"state": operation["state"]}
    if undo is not None:
        details |= {"undo": str(undo["id"]), "undo_state": undo["state"]}
    return Conflict(message, hint=hint, details=details)
