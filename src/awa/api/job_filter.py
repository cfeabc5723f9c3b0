"""A filter of jobs out of a request's query: field by field, as one JSON object, or as a typed line.

All three may be given; a field that two of them give is refused, since nobody can know which was meant.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final

import orjson
from fastapi import Query, Request

from awa.model.errors import FieldProblem, ValidationError, invalid_fields
from awa.model.filter import ATTEMPT_MAX, JobFilter
from awa.model.limits import PRIORITY_FIRST, PRIORITY_LAST
from awa.model.search import SEARCH_MAX_CHARS, parse

FILTER_MAX_CHARS: Final = 8 * 1024
IDS_MAX: Final = 1_000

# Fields that stand in the query under their own names, and how their text is read.
_WHOLE: Final = ("priority", "attempt_gte", "attempt_lt")
_TEXTS: Final = (
    "kind",
    "kind_prefix",
    "queue",
    "tag",
    "state",
    "created_at_gte",
    "created_at_lt",
    "run_at_gte",
    "run_at_lt",
    "finalized_at_gte",
    "finalized_at_lt",
    "error_contains",
)
SIMPLE: Final = (*_TEXTS, *_WHOLE)

Text = Annotated[str | None, Query(max_length=1_000)]
Priority = Annotated[int | None, Query(ge=PRIORITY_FIRST, le=PRIORITY_LAST)]
Attempt = Annotated[int | None, Query(ge=0, le=ATTEMPT_MAX)]
FilterJson = Annotated[
    str | None,
    Query(
        alias="filter",
        max_length=FILTER_MAX_CHARS,
        description="the whole filter as JSON, for fields that are lists or objects",
        examples=['{"tags_any": ["customer:acme"], "state": "available"}'],
    ),
]
SearchLine = Annotated[
    str | None,
    Query(
        max_length=SEARCH_MAX_CHARS,
        description="the filter as an operator types it",
        examples=["queue:email tag:customer:acme age:>1h"],
    ),
]


def from_query(request: Request, now: datetime) -> JobFilter:
    """The filter that a request's query asks for. Raises ValidationError."""
    query = request.query_params
    fields: dict[str, Any] = {}
    doubled: list[str] = []
    for part in (_simple(query), _json(query.get("filter")), _line(query.get("q"), now)):
        doubled += [name for name in part if name in fields]
        fields |= part
    if doubled:
        raise invalid_fields(
            "filter",
            [FieldProblem(name, "is given twice, in different ways") for name in doubled],
        )
    return JobFilter.parse(fields)


def _simple(query: Mapping[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {name: query[name] for name in _TEXTS if name in query}
    return fields | {name: int(query[name]) for name in _WHOLE if name in query}


def _json(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        given = orjson.loads(text)
    except orjson.JSONDecodeError as problem:
        raise _refused(f"is not JSON: {problem}") from None
    if not isinstance(given, dict):
        raise _refused(f"expected an object, got {type(given).__name__}")
    ids = given.get("ids")
    if isinstance(ids, list) and len(ids) > IDS_MAX:
        raise _refused(f"at most {IDS_MAX} ids here, got {len(ids)}")
    return given


def _line(text: str | None, now: datetime) -> dict[str, Any]:
    return {} if text is None else parse(text, now=now).filter.given()


def _refused(message: str) -> ValidationError:
    return invalid_fields("query", [FieldProblem("filter", message)])
