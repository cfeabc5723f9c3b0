"""What is shown fits the terminal; what is copied or counted is never cut."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from rich.console import Console

from awa.cli.output import Column, number, rows_table
from awa.cli.render_operations import operation_columns, operation_line
from tests.cli.conftest import Awa

COLUMNS = (
    Column("id", "ID", right=True, plain=True),
    Column("kind", "KIND", elastic=True),
    Column("state", "STATE"),
    Column("tags", "TAGS", elastic=True),
)
ROW: dict[str, Any] = {
    "id": 123456789,
    "kind": "repository_vulnerability_alert.create",
    "state": "available",
    "tags": ["source:github", "repo:Codertocat/Hello-World", "sender:Codertocat"],
}


def drawn(rows: list[dict[str, Any]], width: int, columns: Sequence[Column] = COLUMNS) -> list[str]:
    console = Console(file=StringIO(), width=width)
    console.print(rows_table(rows, columns, width=width))
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_row_is_one_line_and_its_id_and_state_are_whole(width: int) -> None:
    lines = drawn([ROW], width)
    assert len(lines) == 2
    assert max(len(line) for line in lines) <= width
    assert "123456789" in lines[1]
    assert "available" in lines[1]


@pytest.mark.parametrize("days_ago", [0, 5, 400])
@pytest.mark.parametrize("state", ["cancelling", "completed", "scanning"])
@pytest.mark.parametrize("op_kind", ["set_priority", "move_queue"])
def test_an_operation_is_whole_at_eighty_columns(op_kind: str, state: str, days_ago: int) -> None:
    row = {
        "id": uuid4(),
        "op_kind": op_kind,
        "state": state,
        "total_matched": 1_000_000,
        "processed": 999_999,
        "skipped": 1,
        "errored": 0,
        "submitted_at": datetime.now(UTC) - timedelta(days=days_ago),
    }
    heading, line = drawn([operation_line(row)], 80, operation_columns(80))
    assert line.split()[:5] == [str(row["id"]), op_kind, state, "100", "%"]
    assert "…" not in line
    assert heading.split() == ["ID", "KIND", "STATE", "DONE", "SINCE"]


def test_what_fits_is_not_cut() -> None:
    assert "…" not in drawn([ROW], 200)[1]
    assert ROW["kind"] in drawn([ROW], 120)[1]


@pytest.mark.parametrize(("count", "words"), [(0, "0 jobs"), (1, "1 job"), (36_600, "36,600 jobs")])
def test_a_count_agrees_with_its_noun(count: int, words: str) -> None:
    assert number(count, "job") == words


def test_a_traceback_is_for_those_who_ask(
    bare: Awa, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from awa.cli.app import main

    def broken(_text: str | None) -> str:
        raise ZeroDivisionError("by zero, of all things")

    monkeypatch.setattr("awa.cli.session.find_url", broken)
    ran = bare("job", "list")  # which also sees to it that there is none
    assert ran.code == 1
    assert "by zero, of all things" in ran.err
    assert main(["--debug", "job", "list"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_markup_in_names_is_shown_and_not_obeyed(awa: Awa) -> None:
    awa("enqueue", "--kind", "[red]k[/red]", "--queue", "[bold]")
    assert "[bold]" in awa("queue", "list").out
    assert "[red]k[/red]" in awa("job", "list").out
    assert "[bold]" in awa("queue", "pause", "[bold]").out
