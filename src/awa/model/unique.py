"""Unique jobs: what of a job makes it the same as another, in which states it keeps others out, and what happens then.

The options travel to the database as they are checked here, and the key is worked out there, so that every client and
every driver means the same by the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeAlias, TypedDict, get_args

from awa.model.errors import FieldProblem, ValidationError, invalid_field, invalid_fields
from awa.model.limits import check_whole_number
from awa.model.states import JobState

OnConflict: TypeAlias = Literal["reject", "replace", "ignore"]

KEY_MAX_CHARS: Final = 500
PERIOD_MAX_S: Final = 999_999_999
POLICIES: Final[tuple[str, ...]] = get_args(OnConflict)


class UniqueOpts(TypedDict, total=False):
    """Unique by kind and by what is said here: `{"by_args": ["order"], "on_conflict": "ignore"}`."""

    by_args: bool | Sequence[str]  # all arguments (the default), none, or fields of them
    by_queue: bool
    by_period: int  # seconds
    by_states: Sequence[str]  # in which the key is held
    states: Sequence[str]  # the same, in fewer letters
    key: str  # an own key, in place of kind and arguments
    on_conflict: OnConflict


def check_unique_opts(given: object, *, field: str = "unique_opts") -> dict[str, Any]:
    """Options as the database takes them. Raises ValidationError with all that is wrong."""
    if not isinstance(given, Mapping):
        raise invalid_field(field, f"expected an object, got {type(given).__name__} {given!r}")
    problems: list[FieldProblem] = []
    checked: dict[str, Any] = {}
    for name, value in given.items():
        check = _CHECKS.get(name)
        if check is None:
            problems.append(_unknown(field, name))
        elif value is not None:
            try:
                checked["by_states" if name == "states" else name] = check(value)
            except ValidationError as problem:
                problems += [
                    FieldProblem(f"{field}.{name}", told.message) for told in problem.fields
                ]
    if given.get("states") is not None and given.get("by_states") is not None:
        problems.append(FieldProblem(f"{field}.states", "says the same as by_states, give one"))
    if "key" in checked and checked.get("by_args", False) is not False:
        problems.append(
            FieldProblem(f"{field}.key", "stands for kind and arguments, so leave out by_args")
        )
    if problems:
        raise invalid_fields("job", problems)
    return checked


def _check_by_args(value: object) -> bool | list[str]:
    if isinstance(value, bool):
        return value
    names = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []
    if not names or not all(isinstance(name, str) and name for name in names):
        raise invalid_field("by_args", f"expected True, False or names of fields, got {value!r}")
    return names


def _check_by_queue(value: object) -> bool:
    if not isinstance(value, bool):
        raise invalid_field("by_queue", f"expected True or False, got {value!r}")
    return value


def _check_period(value: object) -> int:
    return check_whole_number(value, "by_period", 1, PERIOD_MAX_S)


def _check_states(value: object) -> list[str]:
    states = list(value) if isinstance(value, Sequence | set | frozenset) else []
    if not states or isinstance(value, str):
        raise invalid_field("by_states", f"expected a list of states, got {value!r}")
    for state in states:
        if state not in set(JobState):
            close = get_close_matches(str(state), list(JobState), n=1)
            advice = (
                f"did you mean {str(close[0])!r}?" if close else f"known: {', '.join(JobState)}"
            )
            raise invalid_field("by_states", f"{state!r} is not a state of a job; {advice}")
    return [str(state) for state in JobState if state in states]


def _check_key(value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= KEY_MAX_CHARS:
        raise invalid_field("key", f"expected 1 to {KEY_MAX_CHARS} characters, got {value!r}")
    if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise invalid_field("key", "must not hold the NUL character or half a surrogate pair")
    return value


def _check_on_conflict(value: object) -> str:
    if value not in POLICIES:
        close = get_close_matches(str(value), POLICIES, n=1)
        advice = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(POLICIES)}"
        raise invalid_field("on_conflict", f"got {value!r}; {advice}")
    return str(value)


_CHECKS: Final[dict[str, Callable[[object], Any]]] = {
    "by_args": _check_by_args,
    "by_queue": _check_by_queue,
    "by_period": _check_period,
    "by_states": _check_states,
    "states": _check_states,
    "key": _check_key,
    "on_conflict": _check_on_conflict,
}


def _unknown(field: str, name: object) -> FieldProblem:
    close = get_close_matches(str(name), _CHECKS, n=1)
    advice = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(_CHECKS)}"
    return FieldProblem(f"{field}.{name}", f"is not a unique option; {advice}")
