"""A filter is strict: nothing is coerced, nothing unknown is ignored, nothing impossible is accepted."""

from datetime import UTC, datetime
from typing import Any

import pytest

from awa.model.errors import ValidationError
from awa.model.filter import JobFilter
from awa.model.states import JobState

EVERYTHING: dict[str, Any] = {
    "kind": "send_email",
    "queue": "default",
    "ids": [1, 2, 3],
    "tag": "customer:acme",
    "state": "available",
    "created_at_gte": "2026-06-01T00:00:00Z",
    "created_at_lt": "2026-06-08T00:00:00+02:00",
    "kinds": ["send_email", "send_text"],
    "kind_prefix": "send_",
    "queues": ["default"],
    "priority": 2,
    "tags_any": ["a"],
    "tags_all": ["a", "b"],
    "tags_none": ["c"],
    "attempt_gte": 1,
    "attempt_lt": 3,
    "run_at_gte": "2026-06-01T00:00:00Z",
    "run_at_lt": "2026-06-02T00:00:00Z",
    "finalized_at_gte": "2026-06-01T00:00:00Z",
    "finalized_at_lt": "2026-06-02T00:00:00Z",
    "error_contains": "timeout",
    "args_contains": {"to": {"country": "FR"}},
}


def test_every_field_is_accepted_and_survives_storage() -> None:
    assert set(EVERYTHING) == set(JobFilter.model_fields)
    parsed = JobFilter.parse(EVERYTHING)
    assert parsed.state is JobState.AVAILABLE
    assert parsed.created_at_gte == datetime(2026, 6, 1, tzinfo=UTC)
    assert JobFilter.parse(parsed.to_json()) == parsed
    assert not parsed.is_empty()


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"queu": "a"}, "queu", "unknown field 'queu', did you mean 'queue'?"),
        ({"xyzzy": 1}, "xyzzy", "unknown field 'xyzzy', known are kind, queue, ids"),
        ({"queue": 5}, "queue", "expected a text, got int 5"),
        ({"queue": None}, "queue", "must not be null; leave the field out"),
        ({"queue": ""}, "queue", "must not be empty"),
        ({"queue": "x" * 201}, "queue", "at most 200 characters, got 201"),
        ({"queue": "a\x00"}, "queue", "must not hold NUL"),
        ({"ids": 5}, "ids", "expected a list, got int 5"),
        ({"ids": [1, "2"]}, "ids[1]", "expected a whole number, got str '2'"),
        ({"ids": [True]}, "ids[0]", "expected a whole number, got bool True"),
        ({"ids": [1.0]}, "ids[0]", "expected a whole number, got float 1.0"),
        ({"ids": [0]}, "ids[0]", "must be at least 1, got int 0"),
        ({"ids": [2**63]}, "ids[0]", "must be at most"),
        ({"kinds": []}, "kinds", "must not be an empty list; leave the field out"),
        ({"kind_prefix": ""}, "kind_prefix", "must not be empty"),
        ({"tags_all": [""]}, "tags_all[0]", "must not be empty"),
        ({"state": "availble"}, "state", "expected one of scheduled, available"),
        ({"state": 3}, "state", "expected one of scheduled, available"),
        ({"priority": 0}, "priority", "must be at least 1, got int 0"),
        ({"priority": 5}, "priority", "must be at most 4, got int 5"),
        ({"created_at_gte": "2026-06-01T00:00:00"}, "created_at_gte", "has no UTC offset"),
        ({"created_at_gte": datetime(2026, 6, 1)}, "created_at_gte", "has no UTC offset"),  # noqa: DTZ001
        ({"created_at_gte": "yesterday"}, "created_at_gte", "expected a date and time like"),
        ({"created_at_gte": 1_780_000_000}, "created_at_gte", "expected a date and time like"),
        ({"attempt_gte": 3, "attempt_lt": 3}, "attempt_gte", "the bounds are reversed"),
        (
            {"created_at_gte": "2026-06-02T00:00:00Z", "created_at_lt": "2026-06-01T00:00:00Z"},
            "created_at_gte",
            "the bounds are reversed: created_at_gte must be below created_at_lt",
        ),
        ({"args_contains": 5}, "args_contains", "expected a JSON object or list, got int"),
        ({"args_contains": {"a": float("nan")}}, "args_contains", "is not JSON"),
        ({"args_contains": {"a": "\x00"}}, "args_contains", "must not hold NUL"),
        ([1], "filter", "expected an object, got list"),
        ("queue", "filter", "expected an object, got str"),
    ],
)
def test_what_is_wrong_is_refused_with_the_name_of_the_field(
    given: Any, field: str, message: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        JobFilter.parse(given)
    (problem,) = refused.value.fields
    assert problem.field == field
    assert problem.message.startswith(message)
    assert field in refused.value.message


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(ValidationError) as refused:
        JobFilter.parse({"queu": "a", "priority": 9, "kind": 1})
    assert {problem.field for problem in refused.value.fields} == {"queu", "priority", "kind"}


def test_an_empty_filter_is_empty() -> None:
    assert JobFilter.parse({}).is_empty()
    assert JobFilter.parse(None).is_empty()
    assert not JobFilter.parse({"queue": "a"}).is_empty()


def test_no_ids_match_nothing_and_do_not_count_as_a_filter() -> None:
    nothing = JobFilter.parse({"ids": []})
    assert nothing.is_empty()
    assert nothing.matches_nothing()
    assert nothing.to_json() == {"ids": []}
    assert not JobFilter.parse({"ids": [], "queue": "a"}).is_empty()
    assert JobFilter.parse({"ids": [], "queue": "a"}).matches_nothing()
