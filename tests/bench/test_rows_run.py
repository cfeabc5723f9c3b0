"""Every row of the benchmark runs, scaled down; peers are played by our own runner, so nothing is installed."""

import io

import pytest
from rich.console import Console

from awa.dev.temporary import memory_base
from bench.__main__ import measure
from bench.peers import STAND_INS
from bench.rows import ROWS


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_row_answers_a_figure_for_each_of_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STAND_INS, "1")
    out = Console(file=io.StringIO())
    verdicts = measure(list(ROWS), quick=True, rounds=1, console=out, base=memory_base())
    assert {v.line.key: v.problem for v in verdicts if v.figure is None} == {}
