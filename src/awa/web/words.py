"""Numbers, times and sizes as people read them. Pure functions; the templates' filters.

A number has thousands separators, a time is relative with the exact instant on hover, an age is in one or
two units. What is missing is a dash, never "None".
"""

import json
from datetime import UTC, datetime
from typing import Any, Final

from markupsafe import Markup, escape

from awa.operations.reading.counts import Count

DASH: Final = "\N{EN DASH}"
_SPACE: Final = "\N{NO-BREAK SPACE}"
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def number(value: float | None) -> str:
    """12,345; at most one digit behind the point."""
    if value is None:
        return DASH
    if value % 1:
        return f"{value:,.1f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{int(value):,}"


def compact(value: float | None) -> str:
    """12.3k: for places where the exact number has no room; it stands in a title there."""
    if value is None:
        return DASH
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            shown = value / size
            return (
                f"{shown:.0f}{letter}"
                if shown >= 100
                else f"{shown:.1f}".rstrip("0").rstrip(".") + letter
            )
    return number(value)


def age(seconds: float | None) -> str:
    """A span as one rounds it when talking: "now", "45 s", "3 min", "2 h 5 min", "4 d"."""
    if seconds is None:
        return DASH
    left = round(abs(seconds))
    if left < 1:
        return "now"
    for index, (size, unit) in enumerate(_UNITS):
        if left < size:
            continue
        whole, rest = divmod(left, size)
        text = f"{whole:,}{_SPACE}{unit}"
        # A second unit only where it says something: 2 h 5 min, but 3 min and 45 d.
        if unit in {"h", "d"} and whole < 10 and index + 1 < len(_UNITS):
            below, small = _UNITS[index + 1]
            if rest // below:
                text += f" {rest // below}{_SPACE}{small}"
        return text
    return "now"


def span(seconds: float | None) -> str:
    """The same behind "for": what is over in no time is "under 1 s"."""
    text = age(seconds)
    return f"under 1{_SPACE}s" if text == "now" else text


def duration(seconds: float | None) -> str:
    """How long something took: "850 µs", "45 ms", "1.24 s", "3 min 5 s", "2 h 5 min"."""
    if seconds is None:
        return DASH
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f}{_SPACE}µs" if seconds > 0 else f"0{_SPACE}ms"
    if seconds < 0.0995:
        return f"{seconds * 1e3:.3g}{_SPACE}ms"
    if seconds < 0.9995:
        return f"{seconds * 1e3:.0f}{_SPACE}ms"
    if seconds < 59.95:
        return f"{seconds:.3g}{_SPACE}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}{_SPACE}min" + (f" {rest}{_SPACE}s" if rest else "")
    return age(seconds)


def milliseconds(value: float | None) -> str:
    """The same of a number of milliseconds."""
    return duration(None if value is None else value / 1000)


def size(value: float | None) -> str:
    """A number of bytes: "812 B", "1.2 GB"."""
    if value is None:
        return DASH
    amount = float(value)
    for unit in ("B", "kB", "MB", "GB"):
        if abs(amount) < 1000:
            return (
                f"{amount:.0f}{_SPACE}{unit}"
                if unit == "B" or amount >= 100
                else f"{amount:.1f}{_SPACE}{unit}"
            )
        amount /= 1000
    return f"{amount:,.1f}{_SPACE}TB"


def rate(value: float | None) -> str:
    """Something a second: "1,234/s", "0.4/s"."""
    if value is None:
        return DASH
    if 0 < value < 0.05:
        return "<0.1/s"
    return f"{value:,.1f}/s" if value < 9.95 and value != round(value) else f"{value:,.0f}/s"


def share(part: float | None, whole: float | None) -> str:
    """A part in percent; what is not quite all never reads 100 %, what is not quite nothing never 0 %."""
    if part is None or not whole:
        return DASH
    percent = 100 * part / whole
    if 0 < percent < 1:
        return f"<1{_SPACE}%"
    if 99 < percent < 100:
        return f">99{_SPACE}%"
    return f"{percent:.0f}{_SPACE}%"


def plural(word: str, count: float | None) -> str:
    """The word in the number that the count asks for."""
    if count == 1:
        return word
    if word.endswith("y") and not word.endswith(("ay", "ey", "oy")):
        return f"{word[:-1]}ies"
    return f"{word}s"


def things(count: float | None, word: str = "job") -> str:
    """ "1 job", "47,000 jobs"."""
    return f"{number(count)} {plural(word, count)}"


def counted(count: Count | int | None, word: str | None = None) -> str:
    """A count that says what kind of number it is: "47,000", "at least 10,000"; with a word, "47,000 jobs"."""
    if count is None:
        return DASH
    jobs, text = (count, number(count)) if isinstance(count, int) else (count.jobs, count.words())
    if not jobs and not isinstance(count, int) and count.bound == "about":
        text = "0"
    return text if word is None else f"{text} {plural(word, jobs)}"


def bounded(count: Count | int | None) -> str:
    """The same where there is little room: "47,000", "10,000+", "~901,000"."""
    if count is None:
        return DASH
    if isinstance(count, int):
        return number(count)
    if not count.jobs and count.bound == "about":
        return "0"
    before, after = {"exact": ("", ""), "at_least": ("", "+"), "about": ("~", "")}[count.bound]
    return f"{before}{number(count.jobs)}{after}"


def exact_instant(at: datetime) -> str:
    """The instant in full, with its zone: "2026-11-30 10:50:17.123 UTC"."""
    utc = at.astimezone(UTC)
    return f"{utc:%Y-%m-%d %H:%M:%S}.{utc.microsecond // 1000:03d} UTC"


def ago(at: datetime | None, now: datetime, *, style: str = "relative") -> Markup | str:
    """The time element for an instant: relative to now (a module lets it tick), exact on hover.

    `style="clock"` shows the time of day, `style="date"` the day and the time, both in UTC.
    """
    if at is None:
        return DASH
    exact = exact_instant(at)
    if style == "relative":
        shown, kind = relative(at, now), ' data-relative=""'
    else:
        shown, kind = (exact[11:19] if style == "clock" else f"{exact[:16]} UTC"), ""
    return Markup('<time datetime="{}" title="{}"{}>{}</time>').format(
        at.astimezone(UTC).isoformat(), exact, Markup(kind), shown
    )


def relative(at: datetime, now: datetime) -> str:
    """ "3 min ago", "in 2 h"; the far past as a date."""
    seconds = (now - at).total_seconds()
    if abs(seconds) < 1:
        return "now"
    if abs(seconds) >= 60 * 86_400:
        return f"{at.astimezone(UTC):%Y-%m-%d}"
    text = age(seconds)
    return f"{text} ago" if seconds > 0 else f"in {text}"


def broken(text: str) -> Markup:
    """A long name that may be broken behind its seams (`/`, `_`, `.`); nothing is added to what is copied."""
    shown = str(escape(text))
    for seam in "/_.":
        shown = shown.replace(seam, f"{seam}<wbr>")
    return Markup(shown)


def sentence(text: str) -> str:
    """A message of ours as a sentence: with a capital and a full stop."""
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "?", "!", ":")) else ".")


def pretty(value: Any) -> str:
    """JSON to be read or copied."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


FILTERS: Final = {
    "pretty": pretty,
    "sentence": sentence,
    "num": number,
    "compact": compact,
    "age": age,
    "span": span,
    "duration": duration,
    "ms": milliseconds,
    "bytes": size,
    "rate": rate,
    "pct": share,
    "plural": plural,
    "things": things,
    "jobs": things,
    "counted": counted,
    "bounded": bounded,
    "exact": exact_instant,
    "broken": broken,
}
