"""Charts as SVG, drawn here: no script, no library, no style attribute.

A drawing has no words in it: it is stretched to the width of its place, and letters would be stretched along.
The scale stands beside it, and each column says its figures to whoever points at it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from markupsafe import Markup

from awa.web.words import number

WIDTH: Final = 600
HEIGHT: Final = 100
_STEPS: Final = (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10)

Values = Sequence[float | None]
Row = Mapping[str, Any]
Say = Callable[[float | None], str]


@dataclass(frozen=True, slots=True)
class Series:
    """A line of the chart: its word, its values (None where nothing is known), the class that colours it."""

    name: str
    values: Values
    colour: str = "c1"


def since_known(series: Sequence[Row], column: str, least: int = 15) -> Sequence[Row]:
    """The minutes from the first of which anything is known, at least the last `least`: a young store has a short chart."""
    unknown = next(
        (index for index, row in enumerate(series) if row[column] is not None), len(series)
    )
    return series[max(0, min(unknown, len(series) - least)) :]


def sparkline(values: Values, *, label: str, colour: str = "c1") -> Markup:
    """A small line without a scale; `label` says what it shows, since nobody can read values off it."""
    known = [value for value in values if value is not None]
    if not known:
        return Markup("")
    top = max(known) or 1
    body = _shape(values, top, 28, inset=2)
    return Markup(
        '<span class="spark plot"><svg class="{}" viewBox="0 0 600 28" preserveAspectRatio="none" role="img"'
        ' aria-label="{}"><g class="{}">{}</g></svg></span>'
    ).format(colour, label, colour, body)


def area(
    instants: Sequence[datetime], series: Sequence[Series], *, label: str, say: Say = number
) -> Markup:
    """Lines over time with their areas, a scale from zero, and what each column holds on pointing at it."""
    known = [value for one in series for value in one.values if value is not None]
    top = nice_top(max(known, default=0))
    lines = Markup("").join(
        Markup('<g class="{}">{}</g>').format(one.colour, _shape(one.values, top, HEIGHT))
        for one in series
    )
    body = _grid() + lines + _columns(instants, series, say)
    return _framed(body, label, [say(top), say(top / 2), say(0)], _times(instants))


def columns(
    instants: Sequence[datetime], values: Values, *, label: str, say: Say = number
) -> Markup:
    """A column for each value, from zero."""
    top = nice_top(max((value for value in values if value is not None), default=0))
    step = WIDTH / max(1, len(values))
    bars = Markup("").join(
        Markup('<rect class="column" x="{}" y="{}" width="{}" height="{}"/>').format(
            _n(index * step + step * 0.1),
            _n(HEIGHT * (1 - value / top)),
            _n(step * 0.8),
            _n(HEIGHT * value / top),
        )
        for index, value in enumerate(values)
        if value
    )
    body = _grid() + bars + _columns(instants, [Series("", values)], say)
    return _framed(body, label, [say(top), say(top / 2), say(0)], _times(instants))


def nice_top(highest: float) -> float:
    """The round number at or above the highest value, so that the scale can be read, and its half too."""
    if not highest > 0 or not math.isfinite(highest):
        return 1
    size = math.pow(10, math.floor(math.log10(highest)))
    return next(step * size for step in (*_STEPS, 20) if step * size >= highest * (1 - 1e-9))


def _framed(body: Markup, label: str, scale: Sequence[str], times: Sequence[str]) -> Markup:
    return Markup(
        '<div class="chart"><div class="chart-y" aria-hidden="true">{}</div>'
        '<svg class="plot" viewBox="0 0 600 100" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
        '<div class="chart-x" aria-hidden="true">{}</div></div>'
    ).format(_spans(scale), label, body, _spans(times))


def _spans(texts: Sequence[str]) -> Markup:
    return Markup("").join(Markup("<span>{}</span>").format(text) for text in texts)


def _grid() -> Markup:
    return Markup("").join(
        Markup('<path class="grid-line" d="M0 {}H600"/>').format(y) for y in (0, 50, 100)
    )


def _columns(instants: Sequence[datetime], series: Sequence[Series], say: Say) -> Markup:
    """Unseen columns that carry the figures as their title."""
    step = WIDTH / max(1, len(instants))
    return Markup("").join(
        Markup(
            '<rect class="slot" x="{}" y="0" width="{}" height="100"><title>{}</title></rect>'
        ).format(_n(index * step), _n(step), _told(at, index, series, say))
        for index, at in enumerate(instants)
    )


def _told(at: datetime, index: int, series: Sequence[Series], say: Say) -> str:
    figures = [
        f"{one.name}: {say(one.values[index])}" if one.name else say(one.values[index])
        for one in series
    ]
    return "\n".join([f"{at.astimezone(UTC):%H:%M} UTC", *figures])


def _times(instants: Sequence[datetime]) -> list[str]:
    if not instants:
        return []
    picked = [instants[0], instants[len(instants) // 2], instants[-1]]
    return [f"{at.astimezone(UTC):%H:%M}" for at in picked]


def _shape(values: Values, top: float, height: float, inset: float = 0) -> Markup:
    """The line and the area below it, with a gap wherever a value is missing."""
    step = WIDTH / max(1, len(values))
    drawn = Markup("")
    for run in _runs(values):
        points = [
            (step * (index + 0.5), inset + (height - 2 * inset) * (1 - min(1.0, value / top)))
            for index, value in run
        ]
        if len(points) == 1:
            (x, y) = points[0]
            points = [(x - step / 2, y), (x + step / 2, y)]
        line = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        drawn += Markup('<path class="area" d="M{} {}L{}L{} {}z"/>').format(
            _n(points[0][0]), _n(height), line, _n(points[-1][0]), _n(height)
        )
        drawn += Markup('<path class="line" d="M{}"/>').format(line)
    return drawn


def _runs(values: Values) -> list[list[tuple[int, float]]]:
    runs: list[list[tuple[int, float]]] = [[]]
    for index, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((index, value))
    return [run for run in runs if run]


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
