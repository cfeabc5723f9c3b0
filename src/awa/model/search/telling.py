"""A filter in plain words, as it stands beside a search and in the record of an operation."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Final

from awa.model.filter import JobFilter
from awa.model.search.words import instant

SHOWN_MAX_VALUES: Final = 10
SHOWN_MAX_CHARS: Final = 300


def sentence(given: JobFilter | Mapping[str, Any]) -> str:
    """The whole filter as one sentence's subject: "jobs in the queue email, with the tag acme"."""
    told = phrases(given)
    return f"jobs {', '.join(told)}" if told else "all jobs"


def phrases(given: JobFilter | Mapping[str, Any]) -> tuple[str, ...]:
    """What each field asks for, in plain words; empty for a filter that asks for nothing."""
    fields = given.given() if isinstance(given, JobFilter) else JobFilter.parse(given).given()
    return tuple(_phrase(name, value) for name, value in fields.items())


def nearest(given: str, known: Iterable[str]) -> str | None:
    """The known word that is most like what was given, if one is near enough."""
    close = get_close_matches(given.lower(), [str(one) for one in known], n=1, cutoff=0.6)
    return close[0] if close else None


def _phrase(name: str, value: Any) -> str:  # noqa: C901, PLR0912 -- one case a field
    match name:
        case "queue" | "queues":
            return f"in the queue {_either(value)}"
        case "kind" | "kinds":
            return f"of the kind {_either(value)}"
        case "kind_prefix":
            return f"of a kind that begins with {value}"
        case "ids":
            return _ids(value)
        case "tag":
            return f"with the tag {value}"
        case "tags_any":
            return f"with the tag {_either(value)}"
        case "tags_all":
            return f"with the tags {_listed(value, 'and')}"
        case "tags_none":
            return f"without the tag {_either(value)}"
        case "state":
            return f"that are {str(value).replace('_', ' ')}"
        case "priority":
            return f"of priority {value}"
        case "attempt_gte":
            return f"with at least {value} {_attempts(value)} begun"
        case "attempt_lt":
            return f"with fewer than {value} {_attempts(value)} begun"
        case "error_contains":
            return f"with an error that contains “{_short(value)}”"
        case "args_contains":
            return f"whose arguments contain {_short(json.dumps(value, ensure_ascii=False))}"
        case _:
            return _bound(name, value)


_VERBS: Final = {"created_at": "created", "run_at": "due", "finalized_at": "ended"}


def _bound(name: str, value: datetime) -> str:
    column, _, side = name.rpartition("_")
    verb = _VERBS[column]
    if side == "lt":
        return f"{verb} before {_moment(value)}"
    return f"{verb} at {_moment(value)} or later"


def _moment(value: datetime) -> str:
    said = instant(value)
    return said.removesuffix("Z").replace("T", " ") + " UTC" if said.endswith("Z") else said


def _ids(value: list[int]) -> str:
    if not value:
        return "with one of no ids at all, so none"
    if len(value) > SHOWN_MAX_VALUES:
        return f"with one of {len(value):,} given ids"
    return f"with the id {_either([str(one) for one in value])}"


def _attempts(count: int) -> str:
    return "attempt" if count == 1 else "attempts"


def _either(value: str | list[str]) -> str:
    return value if isinstance(value, str) else _listed(value, "or")


def _listed(values: list[str], word: str) -> str:
    if len(values) > SHOWN_MAX_VALUES:
        rest = len(values) - SHOWN_MAX_VALUES
        return f"{', '.join(values[:SHOWN_MAX_VALUES])} {word} {rest:,} more"
    if len(values) == 1:
        return values[0]
    return f"{', '.join(values[:-1])} {word} {values[-1]}"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_MAX_CHARS else text[: SHOWN_MAX_CHARS - 1] + "…"
