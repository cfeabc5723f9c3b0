"""The words of the search language, and how a value is written so that it is read as the same value."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

Takes = Literal["names", "ids", "state", "priority", "count", "moment", "age", "text", "json"]


@dataclass(frozen=True, slots=True)
class Word:
    """One word: what it takes, an example, and what it asks of a job."""

    name: str
    takes: Takes
    example: str
    about: str

    @property
    def listed(self) -> bool:
        """Whether commas divide several values."""
        return self.takes in {"names", "ids"}

    @property
    def compared(self) -> bool:
        """Whether `>`, `>=`, `<` and `<=` may stand before the value."""
        return self.takes in {"count", "moment", "age"}


WORDS: Final = (
    Word("queue", "names", "queue:email", "in this queue; queue:a,b: in either"),
    Word("kind", "names", "kind:send_*", "of this kind; * at the end: any kind that begins so"),
    Word("tag", "names", "tag:acme", "with this tag; tag:a tag:b: both; tag:a,b: one of them"),
    Word("-tag", "names", "-tag:acme", "without this tag"),
    Word("state", "state", "state:available", "in this state"),
    Word("priority", "priority", "priority:2", "of this priority, 1 (first) to 4"),
    Word("age", "age", "age:>1h", "created longer ago than this; age:<2d: more recently"),
    Word("created", "moment", "created:>2026-01-01T00:00Z", "created after this instant"),
    Word("run", "moment", "run:<2026-01-01T00:00Z", "due before this instant"),
    Word("ended", "moment", "ended:>2026-01-01T00:00Z", "ended after this instant"),
    Word("attempt", "count", "attempt:>=3", "so many attempts have begun"),
    Word("id", "ids", "id:123,124", "one of these jobs"),
    Word("error", "text", 'error:"timed out"', "one of its errors contains this text"),
    Word("args", "json", 'args:{"customer":"acme"}', "its arguments contain this JSON"),
)

BY_NAME: Final = {word.name: word for word in WORDS}

# What people type instead, and means the same in another place.
NEARBY: Final = {
    "created_at": "created",
    "run_at": "run",
    "finalized": "ended",
    "finalized_at": "ended",
    "ids": "id",
    "job": "id",
    "kinds": "kind",
    "queues": "queue",
    "tags": "tag",
    "prio": "priority",
    "status": "state",
    "is": "state",
    "attempts": "attempt",
    "type": "kind",
    "older": "age",
    "errors": "error",
    "arguments": "args",
}

NO_IDS: Final = "none"
_PLAIN: Final = re.compile(r'[^\s,"<>{\[*][^\s,"*]*')


def word(name: str, value: object) -> str:
    """One word of a search: `word("queue", "my queue")` is `queue:"my queue"`."""
    return f"{name}:{quoted(str(value))}"


def quoted(value: str) -> str:
    """A value as it is written: plain where nothing can be mistaken, else as a JSON string."""
    if _PLAIN.fullmatch(value) and value.isprintable():
        return value
    return json.dumps(value, ensure_ascii=False)


def instant(moment: datetime) -> str:
    """An instant in UTC, said exactly: 2026-01-01T00:00:00Z."""
    try:
        return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
    except OverflowError:  # within a day of year 1 or 9999, UTC may have no such year
        return moment.isoformat()


_UNITS_S: Final = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "min": 60, "s": 1}
_DURATION: Final = re.compile(r"(?:\d{1,9}(?:w|d|h|min|m|s))+", re.ASCII)
_PART: Final = re.compile(r"(\d+)(w|d|h|min|m|s)", re.ASCII)
AGE_MAX: Final = timedelta(days=36_500)


def duration(text: str) -> timedelta | None:
    """`90s`, `5m`, `1h30m`, `2d`, `1w`; None if the text is no duration or longer than a hundred years."""
    if not _DURATION.fullmatch(text):
        return None
    seconds = sum(int(number) * _UNITS_S[unit] for number, unit in _PART.findall(text))
    return timedelta(seconds=seconds) if seconds <= AGE_MAX.total_seconds() else None
