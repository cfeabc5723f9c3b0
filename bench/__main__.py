"""`make bench`: run the rows and print the budget table. ROWS=drain,wal runs some, QUICK=1 tiny ones, ROUNDS=5 more turns."""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from awa.dev.temporary import temporary_server
from awa.model.errors import AwaError
from bench import table
from bench.arena import SERVER_SETTINGS, Arena
from bench.budget import LINES
from bench.peers import BenchError
from bench.rows import ROWS
from bench.wanted import Figure, Verdict

PIPED_COLUMNS = 170
ROUNDS = 3


def main(argv: Sequence[str] | None = None) -> int:
    """Run what was asked for; answers 0 if every line that was run is met or merely shown, else 1."""
    asked = _arguments(argv)
    console = Console() if sys.stdout.isatty() else Console(width=PIPED_COLUMNS)
    rounds = 1 if asked.quick else asked.rounds
    verdicts = measure(asked.rows, quick=asked.quick, rounds=rounds, console=console)
    scale = "scaled down, for a look whether all rows run" if asked.quick else "full size"
    table.show(console, verdicts, title=f"Budgets, {scale}")
    console.print(f"kept in {table.keep(verdicts, quick=asked.quick)}", soft_wrap=True)
    wanted = {"met", "shown", "not run"}
    return 0 if all(verdict.word in wanted for verdict in verdicts) else 1


def measure(
    rows: Sequence[str],
    *,
    quick: bool,
    rounds: int,
    console: Console,
    base: Path | None = None,
) -> list[Verdict]:
    """Run the rows on one server; a verdict for every line of the budget, whether its row was run or not.

    `base` is the folder below which the server keeps its data; it has to be on a real disk for figures that count.
    """
    figures: dict[str, Figure] = {}
    problems: dict[str, str] = {}
    with temporary_server(settings=SERVER_SETTINGS, base=base) as server:
        arena = Arena(
            server, quick=quick, rounds=rounds, say=lambda what: console.print(f"  {what}")
        )
        for row in rows:
            began = time.monotonic()
            console.print(f"[bold]{row}[/bold]")
            try:
                figures |= ROWS[row](arena)
            except (BenchError, AwaError) as problem:
                problems[row] = str(problem)
                console.print(f"  [red]failed:[/red] {problem}")
            console.print(f"  {time.monotonic() - began:.0f} s", style="dim")
    return [Verdict(line, figures.get(line.key), problems.get(line.row, "")) for line in LINES]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rows", type=_rows, default=_rows(os.environ.get("ROWS", "")))
    parser.add_argument("--rounds", type=int, default=int(os.environ.get("ROUNDS") or ROUNDS))
    parser.add_argument("--quick", action="store_true", default=bool(os.environ.get("QUICK")))
    return parser.parse_args(argv)


def _rows(names: str) -> list[str]:
    """The rows named, or all of them."""
    rows = [name.strip() for name in names.split(",") if name.strip()]
    for name in rows:
        if name not in ROWS:
            known = ", ".join(ROWS)
            raise argparse.ArgumentTypeError(f"unknown row {name!r}; there are: {known}")
    return rows or list(ROWS)


if __name__ == "__main__":
    sys.exit(main())
