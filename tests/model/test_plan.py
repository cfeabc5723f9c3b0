"""A plan token comes back as it was made, for what it was made for, or not at all."""

import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awa.model.errors import ValidationError
from awa.model.filter import JobFilter
from awa.model.plan import (
    QUEUES_MAX,
    TOKEN_MAX_CHARS,
    Count,
    Matter,
    Plan,
    PlanExpired,
    PlanLimits,
    digest_of_filter,
    seal,
    unseal,
)

SECRET = b"a secret of thirty-two characters"
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
MOVE = Matter("move_queue", JobFilter.parse({"queue": "a"}), {"queue": "b"})


def plan(count: Count | None = None) -> Plan:
    return Plan.make(MOVE, count or Count(3), NOW, minutes=60)


def matter(**changed: Any) -> Matter:
    if "filter" in changed:
        changed["filter"] = JobFilter.parse(changed["filter"])
    return replace(MOVE, **changed)


def test_it_comes_back_as_it_was_made() -> None:
    made = plan(Count(7, 2, {"a": 5, "päck": 2}, {"available": 7}))
    assert unseal(seal(made, SECRET), SECRET) == made
    assert unseal(f" {seal(made, SECRET)}\n", SECRET) == made


def test_two_previews_make_two_tokens() -> None:
    assert seal(plan(), SECRET) != seal(plan(), SECRET)


def test_no_character_of_it_can_be_another() -> None:
    token = seal(plan(), SECRET)
    others = string.ascii_letters + string.digits + "-_."
    for place, char in enumerate(token):
        other = others[(others.index(char) + 1) % len(others)]
        with pytest.raises(ValidationError) as refused:
            unseal(token[:place] + other + token[place + 1 :], SECRET)
        assert [problem.field for problem in refused.value.fields] == ["plan_token"]


def test_another_database_s_token_is_refused_and_not_repeated() -> None:
    token = seal(plan(), SECRET)
    with pytest.raises(ValidationError, match="was not made by this database") as refused:
        unseal(token, b"another one of thirty-two characters")
    assert token not in str(refused.value)


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "awa1",
        "awa1..",
        "awa1.e30.",
        "awa2.e30.e30",
        "ä.ö.ü",
        "awa1.ä.ö",
        "awa1.\ud800.x",
        "x" * 20_000,
    ],
)
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(ValidationError, match="plan_token"):
        unseal(token, SECRET)


@pytest.mark.parametrize("token", [7, b"x", ["a"], {}])
def test_what_is_no_text_is_refused(token: object) -> None:
    with pytest.raises(ValidationError, match="expected a text"):
        unseal(token, SECRET)


@given(st.text(max_size=200))
def test_anything_else_is_refused_as_input(text: str) -> None:
    with pytest.raises(ValidationError):
        unseal(text, SECRET)


def test_a_token_stays_short_however_many_queues_there_are() -> None:
    queues = {f"{number:03}{'ü' * 197}": 1_000 - number for number in range(900)}
    token = seal(plan(Count(500_000, 0, queues, {"available": 500_000})), SECRET)
    assert len(token) < TOKEN_MAX_CHARS
    kept = unseal(token, SECRET).count.queues
    assert list(kept) == list(queues)[:QUEUES_MAX]


@pytest.mark.parametrize(
    ("other", "parts"),
    [
        (matter(op_kind="set_priority"), {"op_kind"}),
        (matter(filter={"queue": "c"}), {"filter"}),
        (matter(filter={}), {"filter"}),
        (matter(spec={"queue": "b", "priority": 1}), {"spec"}),
        (matter(filter={"tag": "a"}, spec={"queue": "c"}), {"filter", "spec"}),
    ],
)
def test_it_fits_nothing_else_and_says_what_differs(other: Matter, parts: set[str]) -> None:
    plan().check_fits(MOVE)
    with pytest.raises(ValidationError) as refused:
        plan().check_fits(other)
    assert {problem.field for problem in refused.value.fields} == parts
    assert all(part in refused.value.message for part in parts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"ids": [3, 1, 2]}, {"ids": [1, 2, 3, 3]}),
        ({"queues": ["a", "b"], "tag": "x"}, {"tag": "x", "queues": ["b", "a"]}),
        ({"created_at_lt": "2026-06-01T12:00:00Z"}, {"created_at_lt": "2026-06-01T14:00:00+02:00"}),
        ({"args_contains": {"a": 1, "b": 2}}, {"args_contains": {"b": 2, "a": 1}}),
    ],
)
def test_the_same_filter_written_otherwise_is_the_same(one: Any, other: Any) -> None:
    assert digest_of_filter(JobFilter.parse(one)) == digest_of_filter(JobFilter.parse(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"ids": [1, 2]}, {"ids": [1, 2, 3]}),
        ({"ids": []}, {}),
        ({"tags_any": ["a"]}, {"tags_all": ["a"]}),
        ({"args_contains": [1, 2]}, {"args_contains": [2, 1]}),
        (
            {"created_at_lt": "2026-06-01T12:00:00Z"},
            {"created_at_lt": "2026-06-01T12:00:00.000001Z"},
        ),
    ],
)
def test_another_filter_is_another(one: Any, other: Any) -> None:
    assert digest_of_filter(JobFilter.parse(one)) != digest_of_filter(JobFilter.parse(other))


def test_its_time_ends_at_the_instant_that_it_says() -> None:
    made = plan()
    made.check_fresh(NOW + timedelta(minutes=60) - timedelta(microseconds=1))
    with pytest.raises(PlanExpired, match="was good until 2026-06-01 13:00:00 UTC") as refused:
        made.check_fresh(NOW + timedelta(minutes=60))
    assert refused.value.details == {
        "made_at": "2026-06-01T12:00:00+00:00",
        "expires_at": "2026-06-01T13:00:00+00:00",
    }


@pytest.mark.parametrize(
    ("planned", "tolerance"),
    [(0, 0), (9, 0), (10, 1), (99, 9), (100, 10), (1_000, 10), (1_100, 11), (47_000, 470)],
)
def test_a_share_of_many_and_hardly_one_of_a_few(planned: int, tolerance: int) -> None:
    assert PlanLimits().tolerance(planned) == tolerance


def test_the_tolerance_can_be_set() -> None:
    assert PlanLimits(drift_percent=0, drift_jobs=0).tolerance(1_000_000) == 0
    assert PlanLimits(drift_percent=50).tolerance(8) == 4
    assert PlanLimits(drift_percent=0, drift_jobs=1_000).tolerance(5_000) == 500
