"""The stage that `awa demo` plays on: chapters and tables for people, a JSON line a sentence for programs."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from awa.cli.output import Column, Output, rows_table
from awa.cli.progress import Bar, progress
from awa.cli.render_operations import operation_page, preview_page

_REPOSITORY_COLUMNS = (
    Column("name", "REPOSITORY", plain=True),
    Column("deliveries", "DELIVERIES", right=True),
    Column("megabytes", "MB", right=True),
)
RULE_MAX_WIDTH = 120


class TerminalStage:
    """For people, on a terminal or in a log."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._step = 0

    def step(self, title: str, words: str) -> None:
        self._step += 1
        self._out.show("")
        rule = Rule(f"[bold]{self._step}. {title}[/bold]", align="left")
        self._out.console.print(rule, width=min(self._out.console.width, RULE_MAX_WIDTH))
        self._out.show(Text(words))

    def say(self, words: str) -> None:
        self._out.show(Text(words, style="green"))

    def command(self, words: str) -> None:
        line = Text("$ ", style="dim")
        line.append(words, style="bold cyan")
        self._out.show(line)

    def meter(self, label: str, total: int | None, unit: str) -> AbstractContextManager[Bar]:
        return progress(self._out, label, total, unit)

    def preview(self, preview: Mapping[str, Any]) -> None:
        self._out.show(_indented(preview_page(preview)))

    def operation(self, row: Mapping[str, Any]) -> None:
        self._out.show(_indented(operation_page(row)))

    def repositories(self, rows: Sequence[tuple[str, int, int]]) -> None:
        shown = [
            {"name": name, "deliveries": deliveries, "megabytes": size / 1e6}
            for name, deliveries, size in rows
        ]
        self._out.show("")
        self._out.show(_indented(rows_table(shown, _REPOSITORY_COLUMNS)))

    def figures(self, rows: Sequence[tuple[str, int, str]]) -> None:
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(style="bold", no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(style="dim", overflow="fold")
        for name, count, words in rows:
            table.add_row(name, f"{count:,}", words)
        self._out.show("")
        self._out.show(_indented(table))

    def checks(self, checks: Sequence[tuple[str, bool]]) -> None:
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for words, holds in checks:
            table.add_row(Text("ok", "green") if holds else Text("FAIL", "bold red"), Text(words))
        self._out.show("")
        self._out.show(_indented(table))


def _indented(content: RenderableType) -> Padding:
    return Padding(content, (0, 0, 0, 2), expand=False)


class JsonStage:
    """For programs: one line an event, the checks last."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._figures: list[dict[str, Any]] = []

    def step(self, title: str, words: str) -> None:
        self._out.json({"step": title, "words": words})

    def say(self, words: str) -> None:
        self._out.json({"said": words})

    def command(self, words: str) -> None:
        self._out.json({"command": words})

    def meter(self, label: str, total: int | None, unit: str) -> AbstractContextManager[Bar]:
        return progress(self._out, label, total, unit)

    def preview(self, preview: Mapping[str, Any]) -> None:
        self._out.json({"preview": preview})

    def operation(self, row: Mapping[str, Any]) -> None:
        self._out.json({"operation": row})

    def repositories(self, rows: Sequence[tuple[str, int, int]]) -> None:
        names = ("name", "deliveries", "bytes")
        self._out.json({"repositories": [dict(zip(names, row, strict=True)) for row in rows]})

    def figures(self, rows: Sequence[tuple[str, int, str]]) -> None:
        self._figures = [{"name": name, "count": n, "words": words} for name, n, words in rows]

    def checks(self, checks: Sequence[tuple[str, bool]]) -> None:
        self._out.json(
            {
                "figures": self._figures,
                "checks": [{"check": words, "ok": holds} for words, holds in checks],
                "ok": all(holds for _, holds in checks),
            }
        )
