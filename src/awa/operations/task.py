"""An operation with its words understood: what kind it is, what it wants, and of which jobs."""

from dataclasses import dataclass

from awa.model.filter import JobFilter
from awa.model.operation import BatchOperation
from awa.operations import kinds
from awa.operations.kinds import Kind, Spec


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
    kind = kinds.get(operation.op_kind)
    given = JobFilter.parse(operation.filter)
    kind.check_filter(given)
    return Task(kind, kind.parse_spec(operation.spec), given)
