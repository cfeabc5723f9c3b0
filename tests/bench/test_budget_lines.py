"""The budget table is whole: each line has a row that measures it, and a verdict whether it was measured or not."""

import io

import pytest
from rich.console import Console

from bench import table
from bench.budget import LINES
from bench.figures import in_turns, percentile
from bench.rows import ROWS
from bench.wanted import Figure, Line, Verdict, at_least, at_most


def test_every_line_has_a_row_and_every_row_a_line() -> None:
    assert {line.row for line in LINES} == set(ROWS)
    assert len({line.key for line in LINES}) == len(LINES)


@pytest.mark.parametrize(
    ("value", "reference", "word"),
    [(3.0, 1.0, "met"), (9.0, 8.0, "met"), (9.0, 10.0, "met"), (9.0, 1.0, "missed")],
)
def test_one_limit_of_several_is_enough(value: float, reference: float, word: str) -> None:
    line = Line("pickup", "latency", "pickup", (at_most(4, "ms"), at_most(1.2, of="PgQueuer")))
    assert Verdict(line, Figure(value, "ms", reference)).word == word


def test_a_ratio_without_its_reference_is_missed() -> None:
    line = Line("drain", "drain", "drain", (at_least(4, of="PgQueuer"),))
    assert Verdict(line, Figure(100.0, "jobs/s")).word == "missed"


def test_no_line_is_left_out_of_the_table() -> None:
    out = io.StringIO()
    verdicts = [Verdict(line, None, "no peer" if line.row == "drain" else "") for line in LINES]
    table.show(Console(file=out, width=250), verdicts, title="Budgets")
    printed = out.getvalue()
    assert all(line.what in printed for line in LINES)
    assert printed.count("not run") + printed.count("failed") == len(LINES)
    assert "drain-pgqueuer: no peer" in printed


def test_measurements_take_turns() -> None:
    order: list[str] = []
    seen = in_turns(2, {"a": lambda: order.append("a"), "b": lambda: order.append("b")})
    assert order == ["a", "b", "a", "b"]
    assert set(seen) == {"a", "b"}


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([1.0], 0.99) == 1.0
    assert percentile([1.0, 2.0], 1.0) == 2.0
