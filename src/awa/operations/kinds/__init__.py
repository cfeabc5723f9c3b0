"""The kinds of operations, by name. A new one is a file beside these and a line in the table."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

from awa.model.errors import invalid_field
from awa.operations.kinds import move_queue, set_priority, undo
from awa.operations.kinds.base import Kind, Spec, spec_json

__all__ = ["KINDS", "UNDO", "Kind", "Spec", "get", "names", "of_operation", "spec_json"]

KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind for kind in (set_priority.KIND, move_queue.KIND)
}


UNDO: Final = undo.NAME


def of_operation(name: object, spec: Any) -> Kind:
    """The kind of an operation as it is stored: one of the table, or the undo of one. Raises `ValidationError`."""
    return undo.undo_of(get(undo.changed_kind(spec))) if name == UNDO else get(name)


def names() -> tuple[str, ...]:
    """All kinds that this program knows."""
    return tuple(KINDS)


def get(name: object) -> Kind:
    """The kind of that name, or `ValidationError` with the nearest right one."""
    if isinstance(name, str) and name in KINDS:
        return KINDS[name]
    if name == UNDO:
        raise invalid_field(
            "op_kind",
            "an undo has no filter: it is asked of the operation that it takes back",
            hint="awa batch-ops undo ID, POST /api/batch-ops/{id}/undo, or client.undo_batch_operation(id)",
        )
    close = get_close_matches(str(name), KINDS, n=1, cutoff=0.6)
    advice = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(KINDS)}"
    raise invalid_field("op_kind", f"unknown kind of operation {name!r}, {advice}")
