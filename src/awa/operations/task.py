"""An operation with its words understood: what kind it is, what it wants, and of which jobs."""

from dataclasses import dataclass
from uuid import UUID

from awa.model.errors import invalid_field
from awa.model.filter import JobFilter
from awa.model.operation import BatchOperation
from awa.operations import kinds
from awa.operations.kinds import Kind, Spec
from awa.operations.kinds.undo import Undo


@dataclass(frozen=True, slots=True)
class Task:
    """What a chunk has to know."""

    kind: Kind
    spec: Spec
    given: JobFilter


def understand(operation: BatchOperation) -> Task:
    """Read kind, filter and spec as they are stored.

    Raises `ValidationError`: SQL may have stored anything, and an older program other kinds.
    """
    kind = kinds.of_operation(operation.op_kind, operation.spec)
    given = JobFilter.parse(operation.filter)
    kind.check_filter(given)
    spec = kind.parse_spec(operation.spec)
    _check_undo(operation, spec)
    return Task(kind, spec, given)


def _check_undo(operation: BatchOperation, spec: Spec) -> None:
    """What an undo lists and what it puts back must be of the same operation."""
    named = UUID(spec.operation_id) if isinstance(spec, Undo) else None
    if named != operation.undo_of:
        raise invalid_field(
            "undo_of", f"is {operation.undo_of}, but the spec speaks of operation {named}"
        )
