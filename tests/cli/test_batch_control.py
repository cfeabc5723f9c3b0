"""`awa batch-ops pause`, `resume`, `change`, `hold` and `release`: words, JSON and exit codes."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import Awa

Rows = Callable[[str], list[tuple[Any, ...]]]
UNKNOWN = "00000000-0000-0000-0000-000000000000"
SUBMIT = ("batch-ops", "submit", "--op-kind", "set_priority", "--filter", '{"queue": "a"}')


@pytest.fixture
def operation(awa: Awa) -> str:
    """The id of an operation that waits."""
    ran = awa("--json", *SUBMIT, "--spec", '{"priority": 1}', "--yes")
    assert ran.code == 0, ran.err
    return str(ran.document["id"])


def test_an_operation_is_paused_and_resumed(awa: Awa, operation: str) -> None:
    ran = awa("batch-ops", "pause", operation, "--reason", "too fast")
    assert ran.code == 0, ran.err
    assert f"The operation {operation} is paused." in ran.out
    assert "paused" in awa("batch-ops", "list", "--state", "paused").out
    shown = awa("batch-ops", "show", operation).out
    assert "while pending: too fast" in shown
    assert awa("batch-ops", "pause", operation).code == 4
    assert f"The operation {operation} is pending." in awa("batch-ops", "resume", operation).out
    refused = awa("--json", "batch-ops", "resume", operation)
    assert (refused.code, refused.error["code"]) == (4, "conflict")
    assert refused.error["details"]["state"] == "pending"


def test_rate_and_priority_are_changed_while_it_goes_on(awa: Awa, operation: str) -> None:
    ran = awa("batch-ops", "change", operation, "--max-rows-per-second", "500", "--priority", "1")
    assert ran.code == 0, ran.err
    assert "goes at most 500 jobs a second, priority 1." in ran.out
    assert "rate no limit → 500/s, priority 2 → 1 by " in awa("batch-ops", "show", operation).out
    ran = awa("--json", "batch-ops", "change", operation, "--max-rows-per-second", "off")
    assert ran.document["max_rows_per_second"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "nothing is given that is to change"),
        (("--max-rows-per-second", "fast"), "neither a number nor off"),
        (("--max-rows-per-second", "0"), "must be between 1 and"),
        (("--priority", "5"), "must be between 1 and 4"),
    ],
)
def test_a_wrong_pace_is_wrong_input(
    awa: Awa, operation: str, options: tuple[str, ...], said: str
) -> None:
    ran = awa("batch-ops", "change", operation, *options)
    assert (ran.code, said in ran.err) == (2, True)


@pytest.mark.parametrize("verb", [("pause",), ("resume",), ("change", "--priority", "1")])
def test_unknown_operations_are_not_found(awa: Awa, verb: tuple[str, ...]) -> None:
    assert awa("batch-ops", verb[0], UNKNOWN, *verb[1:]).code == 3


def test_all_are_held_and_released(awa: Awa, operation: str) -> None:
    ran = awa("batch-ops", "hold", "--reason", "replica falls behind")
    assert ran.code == 0, ran.err
    assert "All batch operations are held by" in ran.out
    assert "replica falls behind" in awa("batch-ops", "list").out
    findings = awa("--json", "doctor").document["findings"]
    (found,) = [one for one in findings if one["check"] == "batch operations"]
    assert found["verdict"] == "warning"
    assert "replica falls behind" in found["words"]
    refused = awa("--json", "batch-ops", "hold")
    assert (refused.code, refused.error["details"]["reason"]) == (4, "replica falls behind")
    assert awa("batch-ops", "release").code == 0
    assert awa("batch-ops", "release").code == 4
    findings = awa("--json", "doctor").document["findings"]
    assert "batch operations" not in {one["check"] for one in findings}


def test_terms_are_given_on_submit(awa: Awa) -> None:
    terms = ("--priority", "1", "--max-rows-per-second", "500", "--max-jobs", "10")
    later = ("--not-before", "2999-01-01T00:00:00Z")
    ran = awa("--json", *SUBMIT, "--spec", '{"priority": 1}', "--yes", *terms, *later)
    assert ran.code == 0, ran.err
    row = ran.document
    assert (row["priority"], row["max_rows_per_second"], row["max_jobs"]) == (1, 500, 10)
    assert str(row["not_before"]).startswith("2999-01-01")
    wrong = awa(*SUBMIT, "--spec", '{"priority": 1}', "--yes", "--not-before", "tomorrow")
    assert wrong.code == 2
