"""What pydantic found, told in awa's words: the field, what was expected, what was seen."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Final

from pydantic import ValidationError as PydanticError
from pydantic_core import ErrorDetails

from awa.model.errors import FieldProblem

SEEN_MAX_CHARS: Final = 60

# Names alike but for the side of a bound: suggesting the other side would turn what was meant into its opposite.
_SIDES: Final = (
    ("_lt", {"before", "until", "till", "to", "max", "below", "under", "lt", "lte", "le"}),
    ("_gte", {"after", "since", "from", "min", "above", "over", "gt", "gte", "ge"}),
)

_SUFFIXES: Final = tuple(suffix for suffix, _ in _SIDES)

_EXPECTED: Final = {
    "string_type": "a text",
    "int_type": "a whole number",
    "list_type": "a list",
    "bool_type": "true or false",
    "dict_type": "an object",
    "float_type": "a number",
}


def field_problems(problem: PydanticError, known: Iterable[str]) -> list[FieldProblem]:
    """One `FieldProblem` for each thing that is wrong, in the order in which pydantic met them."""
    names = list(known)
    return [_told(error, names) for error in problem.errors(include_url=False)]


def unknown_field(name: str, known: Iterable[str]) -> FieldProblem:
    """An unknown field, with the nearest right name if there is one near enough."""
    names = list(known)
    meant = _meant(name, names)
    advice = f"did you mean {meant}?" if meant else f"known are {', '.join(names)}"
    return FieldProblem(name, f"unknown field {name!r}, {advice}")


def _meant(name: str, known: list[str]) -> str | None:
    """The nearest name; both sides of a bound if the name doesn't say which."""
    words = name.lower().split("_")
    for suffix, meaning in _SIDES:
        bounds = {_stem(one): one for one in known if one.endswith(suffix)}
        if meaning.intersection(words) and bounds:
            what = "_".join(word for word in words if word not in {*meaning, "at"})
            near = get_close_matches(what, bounds, n=1, cutoff=0.7)
            return repr(bounds[near[0]]) if near else None
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    if not close:
        return None
    sides = [one for one in known if _stem(one) == _stem(close[0]) and one.endswith(_SUFFIXES)]
    return " or ".join(repr(one) for one in sides) if close[0] in sides else repr(close[0])


def _stem(bound: str) -> str:
    """created_at_lt is about what was created."""
    for ending in (*_SUFFIXES, "_at"):
        bound = bound.removesuffix(ending)
    return bound


def _told(error: ErrorDetails, known: list[str]) -> FieldProblem:
    path, kind = _path(error["loc"]), error["type"]
    context = error.get("ctx") or {}
    if kind == "extra_forbidden":
        return unknown_field(path, known)
    if kind == "missing":
        return FieldProblem(path, "is required")
    if kind == "awa_bounds":
        return FieldProblem(str(context["field"]), error["msg"])
    if kind in _EXPECTED:
        return FieldProblem(path, f"expected {_EXPECTED[kind]}, got {_seen(error['input'])}")
    return FieldProblem(path, _sentence(kind, context, error))


def _sentence(kind: str, context: dict[str, Any], error: ErrorDetails) -> str:
    match kind:
        case "greater_than_equal":
            return f"must be at least {context['ge']}, got {_seen(error['input'])}"
        case "less_than_equal":
            return f"must be at most {context['le']}, got {_seen(error['input'])}"
        case "string_too_long":
            return f"at most {context['max_length']} characters, got {len(str(error['input']))}"
        case "too_short":
            return "must not be an empty list; leave the field out"
        case "too_long":
            return f"at most {context['max_length']} entries"
        case _:
            return error["msg"]


def _path(location: tuple[int | str, ...]) -> str:
    """('ids', 2) is told as ids[2]."""
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    return path


def _seen(value: object) -> str:
    if value is None:
        return "null"
    shown = repr(value)
    if len(shown) > SEEN_MAX_CHARS:
        shown = shown[: SEEN_MAX_CHARS - 1] + "…"
    return f"{type(value).__name__} {shown}"
