"""What an operator may change of a batch operation that goes on: how fast it goes, and its own priority."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from awa.model.errors import ValidationError
from awa.model.limits import check_priority, check_rows_per_second
from awa.model.queue_limits import UNCHANGED, Unchanged

Rate: TypeAlias = "int | Literal[Unchanged.UNCHANGED] | None"


def operation_changes(
    max_rows_per_second: Rate = UNCHANGED, priority: int | None = None
) -> dict[str, Any]:
    """The columns that are to change, checked; a rate of None takes the limit away. Raises ValidationError."""
    changes: dict[str, Any] = {}
    if max_rows_per_second is not UNCHANGED:
        changes["max_rows_per_second"] = (
            None if max_rows_per_second is None else check_rows_per_second(max_rows_per_second)
        )
    if priority is not None:
        changes["priority"] = check_priority(priority)
    if not changes:
        raise ValidationError(
            "nothing is given that is to change",
            hint="give max_rows_per_second, priority or both; null takes the limit away",
        )
    return changes


def changes_in_words(changes: Mapping[str, Any] | None) -> str:
    """What an event's `changes` say: "rate 500 → no limit, priority 2 → 1"."""
    return ", ".join(
        f"{_NAMES.get(name, name)} {_value(name, before)} → {_value(name, after)}"
        for name, (before, after) in sorted((changes or {}).items())
    )


_NAMES = {"max_rows_per_second": "rate"}


def _value(name: str, value: object) -> str:
    if name != "max_rows_per_second":
        return str(value)
    return "no limit" if value is None else f"{value:,}/s"
