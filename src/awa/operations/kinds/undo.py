"""undo: jobs get back what another operation changed of them; `{"operation_id": "…", "op_kind": "move_queue"}`.

It is no kind that is chosen for a filter: its jobs are those that the other operation changed, and what is done to
them is what that one's kind says (`put_back`). `op_kind` is that kind, also if an undo is undone. So a new kind needs no
more than such a statement, and none needs a migration.
"""

from typing import Any, Final
from uuid import UUID

from pydantic import field_validator

from awa.model.errors import ValidationError, invalid_field
from awa.operations.kinds.base import Kind, Params, Spec

NAME: Final = "undo"


class Undo(Spec):
    """Which operation is taken back, and the kind of what it changed."""

    operation_id: str
    op_kind: str

    @field_validator("operation_id")
    @classmethod
    def _operation_id(cls, value: str) -> str:
        return str(UUID(value))


def _params(spec: Undo) -> Params:
    return {"undo_of": UUID(spec.operation_id)}


def undo_of(kind: Kind) -> Kind:
    """The kind of an operation that takes back one of `kind`. Raises `ValidationError` if that has no way back."""
    if kind.put_back is None:
        raise not_undoable(kind.name)
    return Kind(
        name=NAME,
        about=f"give jobs back what a {kind.name} changed of them",
        spec_model=Undo,
        eligible=kind.eligible,
        apply=kind.put_back,
        unchanged=kind.unchanged,
        params=_params,
        put_back=kind.put_back,
    )


def not_undoable(name: str) -> ValidationError:
    """The error for a kind that keeps nothing that could be put back."""
    return invalid_field("op_kind", f"what a {name} changed can't be undone")


def changed_kind(spec: Any) -> object:
    """The kind of what an undo takes back, as its stored spec names it."""
    return spec.get("op_kind") if isinstance(spec, dict) else None
