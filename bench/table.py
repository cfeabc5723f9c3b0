"""The verdicts as a table for people and as JSON for machines."""

import json
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.wanted import Figure, Verdict

RESULTS = Path(__file__).parent / "results"
COLOURS = {"met": "green", "missed": "red", "failed": "red", "not run": "yellow", "shown": "dim"}


def show(console: Console, verdicts: Sequence[Verdict], *, title: str) -> None:
    """Print every line, and what the notes say below the table."""
    table = Table(title=title, title_justify="left", show_edge=False, pad_edge=False)
    for name in ("row", "what", "measured", "against", "ratio", "wanted", ""):
        table.add_column(name, justify="right" if name in ("measured", "ratio") else "left")
    for verdict in verdicts:
        colour = COLOURS[verdict.word]
        table.add_row(
            verdict.line.row,
            verdict.line.what,
            _amount(verdict.figure),
            _reference(verdict),
            _ratio(verdict.figure),
            verdict.line.wanted,
            f"[{colour}]{verdict.word}[/{colour}]",
        )
    console.print(table)
    for verdict in verdicts:
        if note := verdict.problem or (verdict.figure.note if verdict.figure else ""):
            console.print(f"{verdict.line.key}: {note}", highlight=False, soft_wrap=True)


def keep(verdicts: Sequence[Verdict], *, quick: bool) -> Path:
    """Write the verdicts to a file of their own under bench/results."""
    RESULTS.mkdir(exist_ok=True)
    now = datetime.now(UTC)
    path = RESULTS / f"{now:%Y%m%d-%H%M%S}.json"
    lines = [
        {
            "line": v.line.key,
            "row": v.line.row,
            "what": v.line.what,
            "wanted": v.line.wanted,
            "verdict": v.word,
            "problem": v.problem,
            "value": v.figure and v.figure.value,
            "unit": v.figure and v.figure.unit,
            "reference": v.figure and v.figure.reference,
            "ratio": v.figure and v.figure.ratio,
            "note": v.figure and v.figure.note,
        }
        for v in verdicts
    ]
    machine = {"system": platform.platform(), "python": platform.python_version()}
    document = {"at": now.isoformat(), "quick": quick, "machine": machine, "lines": lines}
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _amount(figure: Figure | None) -> str:
    return "" if figure is None else f"{_number(figure.value)} {figure.unit}"


def _reference(verdict: Verdict) -> str:
    figure = verdict.figure
    if figure is None or figure.reference is None:
        return ""
    return f"{verdict.line.reference} {_number(figure.reference)}"


def _ratio(figure: Figure | None) -> str:
    return "" if figure is None or figure.ratio is None else f"{figure.ratio:.2f}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}".rstrip("0").rstrip(".")
