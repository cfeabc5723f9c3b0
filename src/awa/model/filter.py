"""Which jobs: a structured filter, every field optional, all given fields must hold.

A filter decides what a mutation touches, so it is strict: an unknown field is refused with the
nearest right name, a wrong type is refused with the name of its field, a null is refused (leave the
field out), datetimes must say their offset, and bounds must not be reversed. Nothing is coerced.

`ids: []` matches nothing. It is what a program sends that found nothing to name, so it does not
count as a filter either: without `allow_all` such an operation is refused instead of touching all.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic import ValidationError as PydanticError
from pydantic_core import PydanticCustomError

from awa.model.errors import FieldProblem, invalid_fields
from awa.model.limits import (
    FILTER_IDS_MAX_COUNT,
    JOB_ID_MAX,
    KIND_MAX_CHARS,
    PRIORITY_FIRST,
    PRIORITY_LAST,
    QUEUE_NAME_MAX_CHARS,
    TAG_MAX_CHARS,
)
from awa.model.problems import field_problems
from awa.model.states import JobState

NAMES_MAX_COUNT: Final = 1_000
ERROR_CONTAINS_MAX_CHARS: Final = 1_000
ARGS_CONTAINS_MAX_BYTES: Final = 64 * 1024
ATTEMPT_MAX: Final = 32_767


def _clean_text(value: object) -> object:
    """Refuse what PostgreSQL cannot hold as text; other types are left to the type check."""
    if isinstance(value, str):
        if not value.strip():
            raise PydanticCustomError("awa", "must not be empty")
        if "\x00" in value or any(0xD800 <= ord(char) <= 0xDFFF for char in value):
            raise PydanticCustomError("awa", "must not hold NUL characters or lone surrogates")
    return value


def _aware_datetime(value: object) -> object:
    """A datetime with an offset, or ISO 8601 text with one."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise PydanticCustomError(
                "awa",
                "expected a date and time like 2026-06-01T00:00:00Z, got '{seen}'",
                {"seen": value},
            ) from None
    if not isinstance(value, datetime):
        raise PydanticCustomError(
            "awa",
            "expected a date and time like 2026-06-01T00:00:00Z, got {seen}",
            {"seen": f"{type(value).__name__} {value!r}"},
        )
    if value.utcoffset() is None:
        raise PydanticCustomError(
            "awa", "has no UTC offset ({seen}); add Z or +02:00", {"seen": value.isoformat()}
        )
    return value


def _state(value: object) -> object:
    if isinstance(value, str):
        try:
            return JobState(value)
        except ValueError:
            pass
    raise PydanticCustomError(
        "awa",
        "expected one of {states}, got {seen}",
        {"states": ", ".join(JobState), "seen": repr(value)},
    )


def _json_container(value: object) -> object:
    if not isinstance(value, dict | list):
        raise PydanticCustomError(
            "awa", "expected a JSON object or list, got {seen}", {"seen": type(value).__name__}
        )
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as problem:
        raise PydanticCustomError("awa", "is not JSON: {why}", {"why": str(problem)}) from None
    if b"\\u0000" in text:
        raise PydanticCustomError("awa", "must not hold NUL characters")
    if len(text) > ARGS_CONTAINS_MAX_BYTES:
        raise PydanticCustomError("awa", f"at most {ARGS_CONTAINS_MAX_BYTES} bytes of JSON")
    return value


Kind = Annotated[str, Field(max_length=KIND_MAX_CHARS), BeforeValidator(_clean_text)]
Queue = Annotated[str, Field(max_length=QUEUE_NAME_MAX_CHARS), BeforeValidator(_clean_text)]
Tag = Annotated[str, Field(max_length=TAG_MAX_CHARS), BeforeValidator(_clean_text)]
Needle = Annotated[str, Field(max_length=ERROR_CONTAINS_MAX_CHARS), BeforeValidator(_clean_text)]
JobId = Annotated[int, Field(ge=1, le=JOB_ID_MAX)]
Priority = Annotated[int, Field(ge=PRIORITY_FIRST, le=PRIORITY_LAST)]
Attempt = Annotated[int, Field(ge=0, le=ATTEMPT_MAX)]
Moment = Annotated[datetime, BeforeValidator(_aware_datetime)]
State = Annotated[JobState, BeforeValidator(_state)]
Names = Field(default=None, min_length=1, max_length=NAMES_MAX_COUNT)


class JobFilter(BaseModel):
    """A set of jobs. Build it with `JobFilter.parse`, which raises awa's own `ValidationError`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    kind: Kind | None = None
    queue: Queue | None = None
    ids: list[JobId] | None = Field(default=None, max_length=FILTER_IDS_MAX_COUNT)
    tag: Tag | None = None
    state: State | None = None
    created_at_gte: Moment | None = None
    created_at_lt: Moment | None = None

    kinds: list[Kind] | None = Names
    kind_prefix: Kind | None = None
    queues: list[Queue] | None = Names
    priority: Priority | None = None
    tags_any: list[Tag] | None = Names
    tags_all: list[Tag] | None = Names
    tags_none: list[Tag] | None = Names
    attempt_gte: Attempt | None = None
    attempt_lt: Attempt | None = None
    run_at_gte: Moment | None = None
    run_at_lt: Moment | None = None
    finalized_at_gte: Moment | None = None
    finalized_at_lt: Moment | None = None
    error_contains: Needle | None = None
    args_contains: Annotated[Any, BeforeValidator(_json_container)] = None

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        for name in ("created_at", "attempt", "run_at", "finalized_at"):
            low, high = getattr(self, f"{name}_gte"), getattr(self, f"{name}_lt")
            if low is not None and high is not None and low >= high:
                raise PydanticCustomError(
                    "awa_bounds",
                    "the bounds are reversed: {name}_gte must be below {name}_lt",
                    {"name": name, "field": f"{name}_gte"},
                )
        return self

    @classmethod
    def parse(cls, given: "JobFilter | Mapping[str, Any] | None") -> Self:
        """The filter that was given as JSON, or `ValidationError` with a problem for each field."""
        if isinstance(given, cls):
            return given
        if given is None:
            return cls()
        if not isinstance(given, Mapping):
            seen = type(given).__name__
            raise invalid_fields(
                "filter", [FieldProblem("filter", f"expected an object, got {seen}")]
            )
        nulls = [
            FieldProblem(name, "must not be null; leave the field out")
            for name, value in given.items()
            if value is None and name in cls.model_fields
        ]
        if nulls:
            raise invalid_fields("filter", nulls)
        try:
            return cls.model_validate(dict(given))
        except PydanticError as problem:
            raise invalid_fields("filter", field_problems(problem, cls.model_fields)) from None

    def given(self) -> dict[str, Any]:
        """The fields that were set, by name, in the order in which they are declared."""
        return {
            name: value
            for name in type(self).model_fields
            if (value := getattr(self, name)) is not None
        }

    def is_empty(self) -> bool:
        """True if nothing narrows the set down; `ids: []` does not count as a filter."""
        return not any(name != "ids" or value for name, value in self.given().items())

    def matches_nothing(self) -> bool:
        """True for `ids: []`, whatever else was given."""
        return self.ids == []

    def to_json(self) -> dict[str, Any]:
        """What is stored and shown: plain JSON values, only the fields that were set."""
        return {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in self.given().items()
        }
