"""Progress of long work: a bar on a terminal, a JSON line a second with --json, few plain lines in a pipe.

Work tells where it stands with `at(done)`, as often as it likes; drawing is throttled here. The
rate is that of the last seconds, since the time left is a promise about what comes next.
"""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column as TableColumn
from rich.text import Text

from awa.cli.output import Output

JSON_EVERY_S: Final = 1.0
PLAIN_EVERY_S: Final = 5.0
RATE_WINDOW_S: Final = 5.0


class Bar(Protocol):
    """What work reports to."""

    def at(
        self, done: int, *, total: int | None = None, label: str | None = None, **facts: Any
    ) -> None:
        """Say how far it is, and by another label what is being done; facts go into the JSON line as they are."""


class Rate:
    """Things per second over the last few seconds. What was done before the first look does not count."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()
        self._first: tuple[float, int] | None = None

    def add(self, now: float, done: int) -> None:
        self._points.append((now, done))
        self._first = self._first or (now, done)
        while len(self._points) > 2 and now - self._points[1][0] > RATE_WINDOW_S:
            self._points.popleft()

    def per_second(self) -> float:
        return _slope(self._points[0], self._points[-1]) if self._points else 0.0

    def average_per_second(self) -> float:
        return _slope(self._first, self._points[-1]) if self._first else 0.0

    def left_s(self, done: int, total: int | None) -> float | None:
        rate = self.per_second()
        return (total - done) / rate if total is not None and rate > 0 else None


def _slope(first: tuple[float, int], last: tuple[float, int]) -> float:
    seconds = last[0] - first[0]
    return (last[1] - first[1]) / seconds if seconds > 0 else 0.0


@contextmanager
def progress(out: Output, label: str, total: int | None, unit: str) -> Iterator[Bar]:
    """A bar for as long as the block runs, in the manner that suits where the output goes."""
    if out.as_json:
        yield _Lines(out, label, total, unit)
    elif out.is_terminal:
        with _terminal_bar(out, label, total, unit) as bar:
            yield bar
    else:
        lines = _Lines(out, label, total, unit)
        yield lines


class _Lines:
    """A line now and then: JSON every second, plain words every five."""

    def __init__(self, out: Output, label: str, total: int | None, unit: str) -> None:
        self._out, self._label, self._total, self._unit = out, label, total, unit
        self._doing = label
        self._every_s = JSON_EVERY_S if out.as_json else PLAIN_EVERY_S
        self._rate = Rate()
        self._next = time.monotonic() + self._every_s

    def at(
        self, done: int, *, total: int | None = None, label: str | None = None, **facts: Any
    ) -> None:
        now = time.monotonic()
        self._doing = label or self._label
        self._total = total if total is not None else self._total
        self._rate.add(now, done)
        if now >= self._next:
            self._next = now + self._every_s
            self._write(done, facts)

    def _write(self, done: int, facts: dict[str, Any]) -> None:
        rate, left = self._rate.per_second(), self._rate.left_s(done, self._total)
        if self._out.as_json:
            line = {
                "label": self._label,
                "done": done,
                "total": self._total,
                "unit": self._unit,
                "rate_per_s": round(rate, 1),
                "left_s": None if left is None else round(left),
                **facts,
            }
            self._out.json({"progress": line})
        elif self._total is None and not done:
            self._out.say(f"  {self._doing}")
        else:
            total = "" if self._total is None else f" of {self._total:,}"
            words = f"  {self._doing}: {done:,}{total} {self._unit}, {rate:,.0f}/s"
            self._out.say(words + ("" if left is None else f", {clock(left)} left"))


@contextmanager
def _terminal_bar(out: Output, label: str, total: int | None, unit: str) -> Iterator[Bar]:
    columns: list[ProgressColumn] = [TextColumn("  {task.description}"), BarColumn(bar_width=None)]
    with Progress(*columns, _Figures(unit), console=out.console, expand=True) as drawing:
        task = drawing.add_task(label, total=total, rate=0.0, left=None)
        yield _TerminalBar(drawing, task, label, total)


class _TerminalBar:
    def __init__(self, drawing: Progress, task: Any, label: str, total: int | None) -> None:
        self._drawing, self._task, self._label, self._total = drawing, task, label, total
        self._rate = Rate()

    def at(
        self, done: int, *, total: int | None = None, label: str | None = None, **facts: Any
    ) -> None:
        del facts  # for programs; people see the bar
        self._total = total if total is not None else self._total
        self._rate.add(time.monotonic(), done)
        ended = done == self._total
        self._drawing.update(
            self._task,
            description=label or self._label,
            completed=done,
            total=self._total,
            rate=self._rate.average_per_second() if ended else self._rate.per_second(),
            left=self._rate.left_s(done, self._total),
        )


class _Figures(ProgressColumn):
    """Done of total, rate and time left, in a column of fixed width so that nothing jumps."""

    max_refresh = 0.2

    def __init__(self, unit: str) -> None:
        super().__init__(table_column=TableColumn(no_wrap=True))
        self._unit = unit

    def render(self, task: Task) -> Text:
        if task.total is None and not task.completed:
            return Text("")
        total = "" if task.total is None else f" of {task.total:,.0f}"
        rate: float = task.fields["rate"]
        left: float | None = task.fields["left"]
        if task.finished:
            elapsed = task.finished_time or task.elapsed or 0.0
            tail = f"in {clock(elapsed)}"
        else:
            tail = f"{clock(left)} left" if left is not None else ""
        return Text(f"{task.completed:,.0f}{total} {self._unit} {rate:>7,.0f}/s {tail:>9}")


def clock(seconds: float) -> str:
    """Seconds as people say them: 0.4 s, 12 s, 3:05, 1:02:00."""
    if seconds < 1:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
