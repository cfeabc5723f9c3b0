"""What a command says when all goes well: tables and words for people, JSON lines for programs.

Everything goes through one `Output`, so that `--json` is a property of the program and not of each
command. With `--json` stdout carries one JSON document a line, the last of them the result.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from awa.cli.urls import without_passwords

PLAIN_WIDTH: Final = 500
"""Columns of output that goes into a pipe or a file: there nothing is cut off and no sentence is broken."""


ELASTIC_MIN_WIDTH: Final = 8
GAP_WIDTH: Final = 2


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: the key in the row, the heading, and how it is laid out."""

    key: str
    title: str
    right: bool = False
    wrap: bool = False
    plain: bool = False
    """An id or a name: shown as it is, without separators."""
    elastic: bool = False
    """May be cut short when the terminal is narrow."""


class Output:
    """Where a command's words and results go."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self.is_terminal = sys.stdout.isatty() and not as_json
        self.can_ask = self.is_terminal and sys.stdin.isatty()
        width = None if sys.stdout.isatty() else PLAIN_WIDTH
        self.console = Console(file=sys.stdout, width=width, highlight=False, soft_wrap=False)

    def json(self, document: Any) -> None:
        """One JSON document on one line."""
        sys.stdout.write(orjson.dumps(document, default=str).decode() + "\n")
        sys.stdout.flush()

    def say(self, words: str, *, style: str | None = None) -> None:
        """A sentence for people; nothing with --json."""
        if not self.as_json:
            self.console.print(escape(without_passwords(words)), style=style)

    def literally(self, words: str, *, style: str | None = None) -> None:
        """A line that will be copied: as it is, however long; nothing with --json."""
        if not self.as_json:
            self.console.print(Text(words, style or ""), soft_wrap=True)

    def show(self, renderable: RenderableType) -> None:
        """Anything that rich can draw; nothing with --json."""
        if not self.as_json:
            self.console.print(renderable)

    def result(self, document: Mapping[str, Any], words: str) -> None:
        """The outcome of a command: the document with --json, the sentence otherwise."""
        if self.as_json:
            self.json(document)
        else:
            self.say(words)

    def record(self, document: Mapping[str, Any], shown: Mapping[str, Any] | None = None) -> None:
        """One thing with all its fields, a line each."""
        if self.as_json:
            self.json(document)
        else:
            self.console.print(fields_table(shown if shown is not None else document))

    def listing(
        self, rows: Sequence[Mapping[str, Any]], columns: Sequence[Column], *, empty: str
    ) -> None:
        """All things of a kind: `{"items": […]}` with --json, a table otherwise."""
        if self.as_json:
            self.json({"items": list(rows)})
        elif rows:
            self.console.print(rows_table(rows, columns, width=self.console.width))
        else:
            self.say(empty)

    def page(
        self,
        rows: Sequence[Mapping[str, Any]],
        columns: Sequence[Column],
        *,
        empty: str,
        more: str | None,
    ) -> None:
        """A page of things and how to get the next one, in the shape that HTTP answers with."""
        if self.as_json:
            self.json({"items": list(rows), "next_cursor": more})
            return
        self.listing(rows, columns, empty=empty)
        if more is not None:
            self.say(f"More: --cursor {more}", style="dim")


def rows_table(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[Column], *, width: int = PLAIN_WIDTH
) -> Table:
    """A table without frame lines: quiet on a terminal, easy to cut when piped.

    Where the width does not suffice, the elastic columns give way; ids, states and numbers never do.
    """
    cells = [[_cell_of(row, column) for column in columns] for row in rows]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, most in zip(columns, _widths(cells, columns, width), strict=True):
        table.add_column(
            column.title,
            justify="right" if column.right else "left",
            no_wrap=not column.wrap,
            overflow="fold" if column.wrap else "ellipsis",
            max_width=most,
        )
    for line in cells:
        table.add_row(*line)
    return table


def _cell_of(row: Mapping[str, Any], column: Column) -> Text:
    value = row.get(column.key)
    return Text(str(value)) if column.plain and value is not None else cell(value)


def _widths(cells: Sequence[Sequence[Text]], columns: Sequence[Column], width: int) -> list[int]:
    """How wide each column may be: what it needs, and for elastic ones a fair share of what is left."""
    needs = [
        max([len(column.title), *(line[place].cell_len for line in cells)])
        for place, column in enumerate(columns)
    ]
    elastic = [place for place, column in enumerate(columns) if column.elastic]
    rigid = sum(need for place, need in enumerate(needs) if place not in elastic)
    left = width - rigid - (len(columns) - 1) * GAP_WIDTH
    # From the smallest need on: what one does not use, the wider ones may.
    for rank, place in enumerate(sorted(elastic, key=needs.__getitem__)):
        share = max(left // (len(elastic) - rank), ELASTIC_MIN_WIDTH)
        needs[place] = min(needs[place], share)
        left -= needs[place]
    return needs


def fields_table(document: Mapping[str, Any]) -> Table:
    """Names on the left, values on the right."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in document.items():
        table.add_row(name.replace("_", " "), cell(value))
    return table


def cell(value: Any) -> Text:
    """A value as people read it: times without microseconds, numbers with separators."""
    match value:
        case None:
            return Text("-", style="dim")
        case bool():
            return Text("yes" if value else "no")
        case int():
            return Text(f"{value:,}")
        case float():
            return Text(f"{value:,.1f}")
        case datetime():
            return Text(value.astimezone().strftime("%Y-%m-%d %H:%M:%S"))
        case str():
            return Text(value)
        case list() | tuple() if all(isinstance(item, str) for item in value):
            return Text(", ".join(value) or "-")
    return Text(orjson.dumps(value, default=str).decode())


def number(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun: "1 job", "36,600 jobs"."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
