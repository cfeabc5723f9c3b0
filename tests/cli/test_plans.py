"""What was previewed is what is submitted, or nothing: with the token of a preview, and between question and answer."""

import shlex
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.cli.conftest import Awa
from tests.plans import aged

Rows = Callable[[str], list[tuple[Any, ...]]]

MOVE = (
    "--op-kind", "move_queue", "--filter", '{"queue": "mail"}', "--spec", '{"queue": "other"}',
)  # fmt: skip


@pytest.fixture(autouse=True)
def _backlog(awa: Awa) -> None:
    enqueue(awa, 30)


def enqueue(awa: Awa, count: int) -> None:
    ran = awa("enqueue", "--kind", "send", "--queue", "mail", "--repeat", str(count))
    assert ran.code == 0, ran.err


def token_of(awa: Awa) -> str:
    seen = awa("--json", "batch-ops", "preview", *MOVE).document
    token = seen["plan_token"]
    assert isinstance(token, str)
    return token


def submitted(rows: Rows) -> int:
    found: int = rows("SELECT count(*) FROM awa.batch_operations")[0][0]
    return found


def test_a_preview_ends_with_the_line_that_submits_just_this(awa: Awa, rows: Rows) -> None:
    said = awa("batch-ops", "preview", *MOVE).out
    assert "It takes less than a second (20,000 jobs/s, assumed: none ran here yet)." in said
    assert "To submit just this, until" in said
    words = shlex.split(said.splitlines()[-1])
    assert words[:3] == ["awa", "batch-ops", "submit"]
    ran = awa(*words[1:], "--yes")
    assert ran.code == 0, ran.err
    assert submitted(rows) == 1


def test_the_line_says_that_all_are_meant(awa: Awa, rows: Rows) -> None:
    said = awa("batch-ops", "preview", "--op-kind", "set_priority", "--spec", '{"priority": 1}').out
    words = shlex.split(said.splitlines()[-1])
    assert "--all" in words
    assert awa(*words[1:], "--yes").code == 0
    assert submitted(rows) == 1


def test_where_nothing_matches_there_is_nothing_to_submit(awa: Awa) -> None:
    said = awa(
        "batch-ops", "preview", "--op-kind", "set_priority", "--spec", '{"priority": 1}',
        "--filter", '{"queue": "empty"}',
    ).out  # fmt: skip
    assert "submit" not in said


def test_drift_is_refused_with_the_difference(awa: Awa, rows: Rows) -> None:
    token = token_of(awa)
    enqueue(awa, 20)
    ran = awa("batch-ops", "submit", *MOVE, "--yes", "--plan", token)
    assert ran.code == 4
    assert "30 jobs planned, 50 now: 20 more in queue mail; 20 more available" in ran.err
    assert "3 more or fewer would have been let through (AWA_PLAN_DRIFT_PERCENT" in ran.err
    error = awa("--json", "batch-ops", "submit", *MOVE, "--yes", "--plan", token).error
    assert (error["code"], error["details"]["difference"]) == ("plan_drifted", 20)
    assert submitted(rows) == 0
    assert awa("batch-ops", "submit", *MOVE, "--yes", "--plan", token_of(awa)).code == 0


def test_without_a_question_nothing_is_held_against_it(awa: Awa, rows: Rows) -> None:
    assert awa("batch-ops", "submit", *MOVE, "--yes").code == 0
    assert submitted(rows) == 1


def test_a_plan_for_something_else_is_wrong_input(awa: Awa, rows: Rows) -> None:
    token = token_of(awa)
    other = (*MOVE[:-1], '{"queue": "elsewhere"}')
    ran = awa("--json", "batch-ops", "submit", *other, "--yes", "--plan", token)
    assert (ran.code, ran.error["code"]) == (2, "invalid")
    assert [field["field"] for field in ran.error["fields"]] == ["spec"]
    assert submitted(rows) == 0


def test_a_token_that_was_changed_is_wrong_input_and_not_repeated(awa: Awa, rows: Rows) -> None:
    wrong = token_of(awa)[:-3] + "AAA"
    ran = awa("batch-ops", "submit", *MOVE, "--yes", "--plan", wrong)
    assert ran.code == 2
    assert "was not made by this database, or was changed since" in ran.err
    assert wrong not in ran.err
    assert submitted(rows) == 0


def test_a_token_whose_time_is_over_is_refused(awa: Awa, rows: Rows, database_url: str) -> None:
    old = aged(database_url, token_of(awa), timedelta(hours=2))
    ran = awa("--json", "batch-ops", "submit", *MOVE, "--yes", "--plan", old)
    assert (ran.code, ran.error["code"]) == (4, "plan_expired")
    assert submitted(rows) == 0


def test_the_tolerance_is_a_setting(awa: Awa, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    token = token_of(awa)
    enqueue(awa, 1)
    monkeypatch.setenv("AWA_PLAN_DRIFT_JOBS", "0")
    assert awa("batch-ops", "submit", *MOVE, "--yes", "--plan", token).code == 4
    monkeypatch.setenv("AWA_PLAN_DRIFT_PERCENT", "5")
    assert awa("batch-ops", "submit", *MOVE, "--yes", "--plan", token).code == 0
    assert submitted(rows) == 1
