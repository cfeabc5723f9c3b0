"""`awa batch-ops undo`: it shows what it would put back, asks, and submits; it refuses where nobody can be asked."""

import shlex
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import Awa, Program

Rows = Callable[[str], list[tuple[Any, ...]]]
UNKNOWN = "00000000-0000-0000-0000-000000000000"
MOVE = (
    "batch-ops", "submit", "--op-kind", "move_queue", "--filter", '{"queue": "mail"}',
    "--spec", '{"queue": "other"}', "--yes", "--watch",
)  # fmt: skip


@pytest.fixture
def moved(awa: Awa, leader: Program) -> str:
    """The id of an operation that has moved thirty jobs."""
    assert leader.process.poll() is None
    assert awa("enqueue", "--kind", "send", "--queue", "mail", "--repeat", "30").code == 0
    ran = awa("--json", *MOVE)
    assert ran.code == 0, ran.err
    (listed,) = awa("--json", "batch-ops", "list").document["items"]
    return str(listed["id"])


def test_it_puts_back_and_says_so(awa: Awa, rows: Rows, moved: str) -> None:
    ran = awa("batch-ops", "undo", moved, "--yes", "--watch", "--reason", "wrong queue")
    assert ran.code == 0, ran.err
    assert f"30 jobs would get back what operation {moved} changed." in " ".join(ran.out.split())
    assert rows("SELECT queue, count(*) FROM awa.jobs GROUP BY 1") == [("mail", 30)]
    ((undo, reason),) = rows(
        "SELECT id::text, reason FROM awa.batch_operations WHERE op_kind = 'undo'"
    )
    assert reason == "wrong queue"
    shown = " ".join(awa("batch-ops", "show", moved).out.split())
    assert f"{undo} (completed, 30 jobs put back)" in shown
    shown = " ".join(awa("batch-ops", "show", undo).out.split())
    assert f"undoes what {moved} changed" in shown
    assert "filter" not in shown
    again = awa("--json", "batch-ops", "undo", moved, "--yes")
    assert (again.code, again.error["code"]) == (4, "conflict")
    assert again.error["details"]["undo"] == undo


def test_a_look_changes_nothing_and_ends_with_the_line_that_does(
    awa: Awa, rows: Rows, moved: str
) -> None:
    ran = awa("batch-ops", "undo", moved, "--preview")
    assert ran.code == 0, ran.err
    assert rows("SELECT count(*) FROM awa.batch_operations") == [(1,)]
    assert awa("--json", "batch-ops", "undo", moved, "--preview").document["total_matched"] == 30
    words = shlex.split(ran.out.splitlines()[-1])
    assert words[:4] == ["awa", "batch-ops", "undo", moved]
    assert awa("queue", "drain", "other", "--yes").code == 0
    refused = awa("--json", *words[1:], "--yes")
    assert (refused.code, refused.error["code"]) == (4, "plan_drifted")
    said = awa("batch-ops", "undo", moved, "--preview").out
    assert "Left alone, because they are not as it left them: cancelled 30." in said
    assert "To submit" not in said


def test_nobody_to_ask_is_no_yes(awa: Awa, rows: Rows) -> None:
    ran = awa("batch-ops", "undo", UNKNOWN)
    assert (ran.code, "no terminal to ask on" in ran.err) == (4, True)
    assert f"Look at awa batch-ops undo {UNKNOWN} --preview first" in " ".join(ran.err.split())
    assert rows("SELECT count(*) FROM awa.batch_operations") == [(0,)]
    assert awa("batch-ops", "undo", UNKNOWN, "--yes").code == 3
    assert awa("batch-ops", "undo", "no id", "--yes").code == 2
